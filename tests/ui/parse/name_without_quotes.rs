use std::io;

use reattempt::retry;

#[retry(name = shop.price)]
fn price() -> io::Result<u32> {
    Ok(1)
}

fn main() {
    let _ = price();
}
