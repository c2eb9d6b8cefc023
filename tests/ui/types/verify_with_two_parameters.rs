use reattempt::retry;

#[retry(on(_), idempotent = false, verify = |error, attempt| Some(1))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), idempotent = false, verify = |error, attempt| Some(1))]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
