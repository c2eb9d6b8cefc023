use std::io::{self, Error, ErrorKind};

use reattempt::{RetryError, retry};

#[retry(on(ErrorKind::TimedOut))]
fn one() -> io::Result<u32> {
    Ok(1)
}

#[retry(except(io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied))]
async fn several() -> Result<u32, RetryError<Error>> {
    Ok(1)
}

// An error that is the kind itself.
#[retry(on(ErrorKind::TimedOut))]
fn itself() -> Result<u32, ErrorKind> {
    Ok(1)
}

fn main() {
    let _ = (one(), several(), itself());
}
