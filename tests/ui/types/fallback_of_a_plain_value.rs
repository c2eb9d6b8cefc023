use reattempt::retry;

#[retry(until = |value| *value > 3, fallback = |_| 7)]
fn fetch() -> u32 {
    1
}

#[retry(until = |value| *value > 3, fallback = |_| 7)]
async fn fetch_later() -> u32 {
    1
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
