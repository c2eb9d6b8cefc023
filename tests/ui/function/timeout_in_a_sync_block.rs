use reattempt::{RetryError, retry_block};

fn main() {
    let _ = retry_block!(timeout = "1s", on(_), || -> Result<u32, RetryError<String>> { Ok(1) });
}
