use reattempt::retry;

#[retry(max = 3)]
fn fetch() -> u32 {
    1
}

#[retry(max = 3)]
async fn fetch_list() -> Vec<u8> {
    Vec::new()
}

#[retry(max = 3)]
fn fetch_pair() -> (u8, u8) {
    (1, 2)
}

fn main() {
    let _ = (fetch(), fetch_list(), fetch_pair());
}
