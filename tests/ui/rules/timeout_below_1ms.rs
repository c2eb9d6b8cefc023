use reattempt::{RetryError, retry};

#[retry(timeout = "0s", on(_))]
async fn fetch_a() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(timeout = "999us", on(_))]
async fn fetch_b() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = (fetch_a(), fetch_b());
}
