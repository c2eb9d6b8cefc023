use reattempt::retry;

#[retry(on(text if text.len()))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(text if text.len()))]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
