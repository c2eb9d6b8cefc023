use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};

#[step(complete_by = "0s")]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow(complete_by = "0ms")]
async fn order(context: &WorkflowContext) -> Result<u32, StepError> {
    pay(context).await
}

fn main() {
    drop(order());
}
