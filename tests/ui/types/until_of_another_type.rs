use reattempt::{RetryError, retry};

#[retry(on(_), until = |value: &String| value.is_empty())]
fn fetch() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(on(_), until = |value: &String| value.is_empty())]
async fn fetch_later() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
