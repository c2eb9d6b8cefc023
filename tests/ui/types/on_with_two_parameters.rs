use reattempt::retry;

#[retry(on = |error, attempt| true)]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on = |error, attempt| true)]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
