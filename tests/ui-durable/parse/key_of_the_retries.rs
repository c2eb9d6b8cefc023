use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};

#[step(max = 5, complete_by = "30s")]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step(on(_))]
async fn ship(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow(deadline = "30s")]
async fn order(context: &WorkflowContext) -> Result<u32, StepError> {
    pay(context).await?;
    ship(context).await
}

#[workflow(retry(max = 3))]
async fn nothing(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

fn main() {
    drop((order(), nothing()));
}
