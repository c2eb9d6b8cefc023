use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

#[step]
async fn pay(_: &Step) -> Option<u32> {
    Some(1)
}

#[workflow]
async fn order(_: &WorkflowContext) -> u32 {
    1
}

fn main() {}
