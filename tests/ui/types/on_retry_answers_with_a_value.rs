use reattempt::retry;

#[retry(on(_), on_retry = |retry| retry.attempt())]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), on_retry = |retry| retry.attempt())]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
