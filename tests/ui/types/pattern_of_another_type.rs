use reattempt::retry;

#[retry(on(Some(_)))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(Some(_)))]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
