use reattempt::{RetryError, retry};

#[retry(timeout = "1s", deadline = "1s", on(_))]
async fn fetch() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
