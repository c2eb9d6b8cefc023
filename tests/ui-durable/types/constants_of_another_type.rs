use std::time::Duration;

use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

const LIMIT: u32 = 5;

#[step(complete_by = if cfg!(debug_assertions) { LIMIT } else { Duration::MAX }, name = LIMIT)]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow(version = "1".len())]
async fn order(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
