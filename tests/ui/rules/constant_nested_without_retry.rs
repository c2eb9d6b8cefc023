use reattempt::{Nested, Policy, retry};

const NESTED: Nested = Nested::Multiply;
const POLICY: Policy = Policy::new().nested(NESTED);

#[retry(max = 1, nested = NESTED)]
fn fetch_a() -> Result<u32, u8> {
    Err(1)
}

#[retry(policy = POLICY, max = 1)]
fn fetch_b() -> Result<u32, u8> {
    Err(1)
}

fn main() {
    let _ = (fetch_a(), fetch_b());
}
