use std::io;

use reattempt::retry;

#[retry(idempotent = false, verify = |_| true)]
fn order() -> io::Result<u32> {
    Ok(1)
}

fn main() {
    let _ = order();
}
