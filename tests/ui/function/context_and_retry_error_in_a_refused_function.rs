use reattempt::{RetryError, retry};

#[retry(max = 0, on(_), context = attempt)]
fn fetch() -> Result<u32, RetryError<String>> {
    let inner: Result<u32, String> = Ok(attempt.number());
    inner
}

fn main() {
    let _: Result<u32, RetryError<String>> = fetch();
}
