use reattempt::{RetryError, retry};

#[retry(hedge = "0ms", on(_))]
async fn at_once() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(hedge = 50, on(_))]
async fn a_number() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(hedge = quantile(95.0), on(_))]
async fn a_quantile() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(hedge = 0.95, on(_))]
async fn a_share() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(hedge = "50ms", idempotent = false, on = |_: &String| reattempt::Verdict::Refused)]
async fn twice() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(hedge = "2s", deadline = "1s", on(_))]
async fn late() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = (at_once(), a_number(), a_quantile(), a_share(), twice(), late());
}
