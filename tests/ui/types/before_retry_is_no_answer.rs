use reattempt::retry;

#[retry(on(_), before_retry = |retry| 5)]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), before_retry = |_| 5)]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), before_retry = async |_| 5)]
async fn fetch_much_later() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), before_retry = async |retry| retry.attempt() + 5)]
async fn seen() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = (fetch_later(), fetch_much_later(), seen());
}
