use std::io;

use reattempt::retry;

#[retry(on = io::ErrorKind::TimedOut)]
fn fetch() -> io::Result<u32> {
    Ok(1)
}

#[retry(except = io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)]
fn open() -> io::Result<u32> {
    Ok(1)
}

fn main() {
    let _ = (fetch(), open());
}
