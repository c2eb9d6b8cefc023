use reattempt_supervisor::{Client, StepError, SubmitError, WorkflowContext, workflow};

#[workflow(version = 1)]
async fn order(_: &WorkflowContext, cents: u32) -> Result<u32, StepError> {
    Ok(cents)
}

#[workflow(version = 1)]
async fn orders(_: &WorkflowContext) -> Result<u32, StepError> {
    order(5).await
}

async fn submit(client: &Client) -> Result<u32, SubmitError> {
    client.submit(order(5)).await?.await
}

fn main() {
    drop(orders());
}
