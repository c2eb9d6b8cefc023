use reattempt::{retry, retry_block};

#[derive(Debug)]
struct Busy;

#[retry({ max = 5, on(_) })]
fn braces() -> Result<(), Busy> {
    Err(Busy)
}

#[retry("max" = 5, on(_))]
fn quotes() -> Result<(), Busy> {
    Err(Busy)
}

fn main() {
    let _ = (braces(), quotes());
    let _: Result<(), Busy> = retry_block!((max = 5, on(_)), { Err(Busy) });
}
