use reattempt::retry;

#[retry(timeout = "1s", until = |state| *state == 0)]
async fn state() -> u32 {
    0
}

#[retry(timeout = "1s", until = |(_, done)| *done)]
async fn list() -> (Vec<u8>, bool) {
    (Vec::new(), true)
}

fn main() {
    let _ = (state(), list());
}
