#![forbid(unused)]
#![deny(warnings)]

use reattempt::{retry, retry_block};

#[retry(max = 0, on(_), context = attempt)]
fn fetch(url: &str) -> Result<u32, String> {
    Ok(url.len() as u32 + attempt.number())
}

fn main() {
    let _ = fetch("");
    let answer = retry_block!(max = 0, on(_), || -> Result<u32, String> { Ok(1) });
    let _ = answer;
}
