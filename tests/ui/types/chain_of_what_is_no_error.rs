use reattempt::{Classify, chain, retry};
use std::io;

#[retry(on = chain![io::Error])]
fn text() -> Result<u32, String> {
    Err("broken".to_owned())
}

#[retry(on = chain![std::fmt::Error])]
fn no_verdict() -> Result<u32, Box<dyn std::error::Error>> {
    Err(std::fmt::Error.into())
}

#[derive(Classify)]
enum Mine {
    #[retry(chain(io::Error))]
    Text(String),
}

fn main() {
    let _ = (text(), no_verdict(), Mine::Text(String::new()));
}
