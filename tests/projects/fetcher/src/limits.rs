//! Values that are worked out.

use std::time::Duration;

use reattempt::{Budget, Policy, retry};

const fn tries(more: u32) -> u32 {
    2 + more
}

pub const TRIES: u32 = tries(1);
pub static ALL: Budget = Budget::per_request(0.05);

pub trait Limits {
    const MAX: u32;
    const WAIT: Duration = Duration::from_millis(30);
}

pub struct Small;

impl Limits for Small {
    const MAX: u32 = 2;
}

/// Only the compiler knows what a `const fn` answers.
//~ tries
#[retry(max = TRIES, base = "1s", jitter = "none", on(_))]
pub fn counted() -> Result<(), String> {
    Ok(())
}

/// And here not even it does before the function is used.
//~ generic
#[retry(max = L::MAX, base = L::WAIT, on(_))]
pub fn generic<L: Limits>() -> Result<(), String> {
    Ok(())
}

//~ small
#[retry(max = Small::MAX, base = Small::WAIT, jitter = "none", budget = &ALL, on(_))]
pub fn small() -> Result<(), String> {
    generic::<Small>()
}

//~ own
#[retry(policy = own(), on(_))]
pub fn run_time() -> Result<(), String> {
    small()
}

fn own() -> Policy {
    Policy::interactive()
}

//~ endless
#[retry(max = "unlimited", deadline = "5m", cap = "10s", on(_))]
pub fn endless() -> Result<(), String> {
    run_time()
}
