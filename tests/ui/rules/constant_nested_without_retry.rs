use std::io;

use reattempt::{policy::Nested, Policy, retry};

const NESTED: Nested = Nested::Multiply;
const POLICY: Policy = Policy::new().nested(NESTED);

#[retry(max = 1, nested = NESTED)]
fn fetch_a() -> io::Result<u32> {
    Ok(1)
}

#[retry(policy = POLICY, max = 1)]
fn fetch_b() -> io::Result<u32> {
    Ok(1)
}

fn main() {
    let _ = (fetch_a(), fetch_b());
}
