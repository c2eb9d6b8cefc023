use std::error::Error;
use std::io;

use reattempt::retry;

mod reqwest {
    #[derive(Debug)]
    pub struct Error;

    pub type Result<T> = std::result::Result<T, Error>;

    impl Error {
        pub fn status(&self) -> Option<http::StatusCode> {
            None
        }
    }
}

#[retry(on(503 | 429))]
fn of_reqwest() -> reqwest::Result<u32> {
    Ok(1)
}

#[retry(on(500..=599), except(501))]
async fn range() -> Result<u32, reqwest::Error> {
    Ok(1)
}

#[retry(on(503))]
fn of_io() -> Result<u32, io::Error> {
    Ok(1)
}

#[retry(on(503 | 500))]
fn boxed() -> Result<u32, Box<dyn Error + Send + Sync>> {
    Ok(1)
}

// An error that is the number itself.
#[retry(on(503 | 429))]
fn itself() -> Result<u32, u16> {
    Ok(1)
}

fn main() {
    let _ = (of_reqwest(), range(), of_io(), boxed(), itself());
}
