use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

#[step]
#[retry(max = 3)]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow]
#[retry(max = 3)]
async fn order(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
