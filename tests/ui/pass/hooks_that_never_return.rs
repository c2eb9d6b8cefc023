//! A hook that ends the thread, or panics, answers with nothing.

use reattempt::{Retry, retry};

#[retry(on(_), before_retry = |_| panic!("no retry"))]
fn ignores() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), before_retry = |retry: &Retry<'_, String>| panic!("{}", retry.error().map_or("", |error| error)))]
fn looks() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), before_retry = async |_| panic!("no retry"))]
async fn waits() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), before_retry = async |_| std::process::exit(1))]
async fn ends() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    assert!(ignores().is_ok() && looks().is_ok());
    drop((waits(), ends()));
}
