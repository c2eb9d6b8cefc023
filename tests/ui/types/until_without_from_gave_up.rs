use reattempt::retry;

#[retry(on(_), until = |value| *value > 3)]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), until = |value| *value > 3)]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
