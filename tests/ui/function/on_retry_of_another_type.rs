use reattempt::retry;

#[retry(on(_), on_retry = |error: &String| println!("{error}"))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), on_retry = |error: &String| println!("{error}"))]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

#[retry(on_retry = |error: &std::io::Error| println!("{error}"))]
fn by_its_alias() -> std::io::Result<u32> {
    Ok(1)
}

#[retry(before_retry = |attempt: u32| println!("{attempt}"))]
fn number() -> std::io::Result<u32> {
    Ok(1)
}

#[retry(on_retry = |answer: &std::io::Result<u32>| println!("{answer:?}"))]
fn answer() -> std::io::Result<u32> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
    let _ = (by_its_alias(), number(), answer());
}
