use reattempt::{Policy, retry};

const SHARED: Policy = Policy::new();

#[retry(policy = policy, max = 0, jitter = 7.0, factor = 0.1, on(_))]
fn at_run_time(policy: Policy) -> Result<u32, u8> {
    Err(u8::from(policy.is_idempotent()))
}

#[retry(policy = SHARED, max = 0, on(_))]
fn constant() -> Result<u32, u8> {
    Err(1)
}

fn main() {
    let _ = (at_run_time(SHARED), constant());
}
