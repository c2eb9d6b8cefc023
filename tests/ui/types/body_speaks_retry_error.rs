use reattempt::{RetryError, retry};

#[retry(max = 3, on(_))]
fn fetch() -> Result<u32, RetryError<String>> {
    let inner: Result<u32, RetryError<String>> = fetch();
    inner
}

fn main() {
    let _ = fetch();
}
