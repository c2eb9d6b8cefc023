use reattempt::{RetryError, retry};

#[retry(timeout = "1s", on(_))]
fn fetch() -> Result<u32, RetryError<String>> {
    Ok(1)
}

struct Client;

impl Client {
    #[retry(max = 2, on(_), timeout = "1s")]
    fn fetch(&self) -> Option<u32> {
        Some(1)
    }
}

fn main() {
    let _ = (fetch(), Client.fetch());
}
