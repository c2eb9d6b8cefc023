use reattempt::{RetryError, retry};

#[retry(on(_), timeout = "1s", idempotent = false, verify = async |_| None)]
async fn pay() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = pay();
}
