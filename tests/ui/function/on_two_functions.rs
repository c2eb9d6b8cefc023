use std::io;

use reattempt::retry;

fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ResourceBusy
}

fn is_late(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

#[retry(on = is_busy || (is_late && !self::is_busy))]
fn joined() -> io::Result<u32> {
    Ok(1)
}

#[retry(except = is_busy(e))]
fn called() -> io::Result<u32> {
    Ok(1)
}

#[retry(on = is_busy(&error) || is_late(&error))]
fn both() -> io::Result<u32> {
    Ok(1)
}

#[retry(on(is_busy(e)))]
fn in_parentheses() -> io::Result<u32> {
    Ok(1)
}

fn main() {
    let _ = (joined(), called(), both(), in_parentheses());
}
