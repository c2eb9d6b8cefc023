use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

#[step]
async fn pay(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn ship(_: &str) -> Result<u32, String> {
    Ok(1)
}

#[workflow]
async fn order(_: &Step) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
