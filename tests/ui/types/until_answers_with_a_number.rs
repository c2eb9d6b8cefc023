use reattempt::retry;

#[retry(on(_), until = |value| *value)]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), until = |value| *value)]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
