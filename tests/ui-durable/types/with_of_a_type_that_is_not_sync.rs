use std::cell::Cell;

use reattempt_supervisor::{Step, step};

#[step]
async fn pay(_: &Step, #[with] _log: &Cell<u32>) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn ship(_: &Step, #[with] _log: &str) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
