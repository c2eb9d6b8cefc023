#![deny(warnings)]

use reattempt::{retry, retry_block};

#[retry(max = 3, on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    fetch();
    retry_block!(on(_), || -> Result<u32, String> { Ok(1) });
}
