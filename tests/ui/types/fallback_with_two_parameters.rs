use reattempt::retry;

#[retry(on(_), fallback = |error, attempts| Ok(1))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), fallback = |error, attempts| Ok(1))]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
