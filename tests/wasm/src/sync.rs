//! Does not compile: a thread of a browser cannot sleep. The step `wasm` compares the message.

use std::io;

use reattempt::{Policy, retry};

#[retry(max = 3)]
fn read() -> io::Result<String> {
    std::fs::read_to_string("settings.toml")
}

pub fn run() -> io::Result<String> {
    Policy::new().run(read)
}
