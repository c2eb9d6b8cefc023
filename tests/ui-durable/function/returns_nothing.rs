use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

#[step]
async fn pay(_: &Step) {}

#[workflow]
async fn order(_: &WorkflowContext) {}

fn main() {}
