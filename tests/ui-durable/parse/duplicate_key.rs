use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};

#[step(name = "pay", complete_by = "30s", name = "buy")]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow(version = 1, version = 2)]
async fn order(context: &WorkflowContext) -> Result<u32, StepError> {
    pay(context).await
}

fn main() {
    drop(order());
}
