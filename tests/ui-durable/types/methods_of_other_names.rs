use reattempt_supervisor::{
    Client, Scheduler, Step, StepError, SubmitError, TaskHandle, WorkflowContext, step, workflow,
};

#[step]
async fn pay(step: &Step, cents: u32) -> Result<String, String> {
    Ok(format!("{cents} {}", step.id()))
}

#[workflow(version = 1)]
async fn order(context: &WorkflowContext, cents: u32) -> Result<u32, StepError> {
    context.run(|| async move { Ok(cents) }).await
}

#[workflow(version = 1)]
async fn orders(context: &WorkflowContext) -> Result<u32, StepError> {
    let child = context.spawn(order(5)).await;
    Ok(context.gather(&[child]).await.len() as u32)
}

async fn submit(client: &Client) -> Result<u32, SubmitError> {
    let task: TaskHandle<u32> = client.start_workflow(order(5)).await?;
    task.result().await
}

async fn serve(client: &Client) {
    Scheduler::new(client).add_workflow(order).run().await;
}

fn main() {
    drop((order(5), orders(), submit, serve));
}
