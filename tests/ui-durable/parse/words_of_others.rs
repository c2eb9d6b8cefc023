use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};

#[step(compensate = refund)]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step(retry_policy(max = 5))]
async fn ship(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow(execution_timeout = "1h")]
async fn limited(_: &WorkflowContext) -> Result<u32, StepError> {
    Ok(1)
}

#[workflow(retries = 3)]
async fn repeated(_: &WorkflowContext) -> Result<u32, StepError> {
    Ok(1)
}

#[workflow(task_queue = "mail")]
async fn queued(_: &WorkflowContext) -> Result<u32, StepError> {
    Ok(1)
}

#[workflow(workflow_id = "order 17")]
async fn named(_: &WorkflowContext) -> Result<u32, StepError> {
    Ok(1)
}

fn main() {
    drop((limited(), repeated(), queued(), named()));
}
