use std::io;

use reattempt::retry;

#[retry(max = 3)]
async fn longer<'a>(first: &'a str, second: &str) -> io::Result<&'a str> {
    if first.is_empty() {
        return Ok(second);
    }
    Ok(first)
}

fn main() {
    drop(longer("", ""));
}
