//! What the messages about functions, patterns and statements name does compile.

use std::io;

use reattempt::retry;

mod shop {
    #[derive(Debug, reattempt::Classify)]
    #[retry(transient)]
    pub struct Error;

    impl std::fmt::Display for Error {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("busy")
        }
    }

    impl std::error::Error for Error {}
}

#[derive(Debug)]
pub struct WebError;

impl WebError {
    pub fn status(&self) -> Option<http::StatusCode> {
        None
    }
}

#[retry(on = |error| error.status().is_some_and(|status| matches!(status.as_u16(), 503 | 429)))]
fn of_a_status() -> Result<u32, WebError> {
    Ok(1)
}

#[retry(
    idempotent = false,
    on = |error| match error { 503 | 429 => reattempt::Verdict::Refused, _ => reattempt::Verdict::Permanent }
)]
fn proved() -> Result<u32, u16> {
    Ok(1)
}

#[retry(idempotent = false, on = |_| reattempt::Verdict::Refused)]
fn proved_by_any() -> Result<u32, u16> {
    Ok(1)
}

#[retry(on = reattempt::chain![io::Error, shop::Error])]
fn inside() -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    Ok(1)
}

async fn later() -> io::Result<u32> {
    Ok(1)
}

async fn statements() -> io::Result<u32> {
    let first = reattempt::retry_block!(max = 3, { inside().map_err(io::Error::other) })?;
    let second = reattempt::retry_block!(async { later().await }).await?;
    let third = || reattempt::retry_block!(max = 3, base = "1s", { inside().map_err(io::Error::other) });
    Ok(first + second + third()?)
}

fn main() {
    let _ = (of_a_status(), proved(), proved_by_any(), statements());
}
