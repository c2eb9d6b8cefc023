use reattempt::{RetryError, retry};

#[retry(timeout = "2s", deadline = "1s", on(_))]
async fn fetch_a() -> Result<u32, RetryError<String>> {
    Ok(1)
}

// One attempt alone cannot use it up either.
#[retry(max = 1, deadline = "1s", timeout = "1001ms")]
async fn fetch_b() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = (fetch_a(), fetch_b());
}
