use reattempt::retry;

#[retry(on(_), before_retry = |error: &String| println!("{error}"))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), before_retry = |error: &String| println!("{error}"))]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
