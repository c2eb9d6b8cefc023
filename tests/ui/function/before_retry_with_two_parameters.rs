use reattempt::retry;

#[retry(on(_), before_retry = |error, attempt| println!("{attempt}"))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), before_retry = |error, attempt| println!("{attempt}"))]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
