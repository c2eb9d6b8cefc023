use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

#[step]
async fn pay(_: &Step) -> Result<u32, String>;

#[workflow]
async fn order(_: &WorkflowContext) -> Result<u32, String>;

fn main() {}
