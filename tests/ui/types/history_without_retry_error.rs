//! The error of the function has no room for the history of the call.

use std::io;

use reattempt::retry;

#[retry(max = 3, history)]
fn read(path: &str) -> io::Result<String> {
    std::fs::read_to_string(path)
}

fn main() {
    drop(read(""));
}
