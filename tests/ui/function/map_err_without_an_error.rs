use reattempt::{RetryError, retry};

fn message(error: RetryError<u8>) -> String {
    error.to_string()
}

#[retry(map_err = message)]
fn find() -> Option<u32> {
    Some(1)
}

#[retry(map_err = message, until = |count| *count > 0)]
fn count() -> u32 {
    1
}

#[retry(map_err = message, until = |()| true)]
fn wait() {}

fn main() {
    let _ = (find(), count());
    wait();
}
