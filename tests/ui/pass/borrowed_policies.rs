//! `policy = &POLICY` is the policy.

use std::io;

use reattempt::{Policy, retry, retry_block};

static SHARED: Policy = Policy::new().max(2);
const OWN: Policy = Policy::new().max(2);

#[retry(policy = &SHARED)]
fn fetch() -> io::Result<u32> {
    Ok(1)
}

#[retry(policy = &OWN, max = 3)]
async fn load() -> io::Result<u32> {
    Ok(1)
}

#[retry(policy = &*policy)]
fn given(policy: &Policy) -> io::Result<u32> {
    Ok(1)
}

fn main() {
    let policy = OWN;
    let _ = (fetch(), load(), given(&policy));
    let _ = retry_block!(policy = &policy, { io::Result::Ok(1) });
}
