use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};

#[step(complet_by = "30s")]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step(class = "fast")]
async fn ship(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step(retries = 3)]
async fn store(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow(max_failure = 3)]
async fn order(context: &WorkflowContext) -> Result<u32, StepError> {
    pay(context).await?;
    ship(context).await
}

#[workflow(3)]
async fn nothing(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

fn main() {
    drop((order(), nothing()));
}
