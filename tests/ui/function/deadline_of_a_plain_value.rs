use reattempt::retry;

#[retry(deadline = "1s", until = |ready: &bool| *ready)]
async fn ready() -> bool {
    true
}

fn main() {
    let _ = ready();
}
