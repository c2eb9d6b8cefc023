use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};

#[step(complete_by =)]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow(version = , name = "order")]
async fn order(context: &WorkflowContext) -> Result<u32, StepError> {
    pay(context).await
}

fn main() {
    drop(order());
}
