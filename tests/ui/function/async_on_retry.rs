use reattempt::retry;

#[retry(on_retry = async |retry| (), on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on_retry = async |_| (), on(_))]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
