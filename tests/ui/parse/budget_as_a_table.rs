use std::io;

use reattempt::retry;

#[retry(budget = { per_success = 0.1 })]
fn order() -> io::Result<u32> {
    Ok(1)
}

#[retry(budget = { tokens = 500 })]
fn ship() -> io::Result<u32> {
    Ok(1)
}

fn main() {
    let _ = (order(), ship());
}
