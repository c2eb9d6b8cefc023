use reattempt_supervisor::{Client, Scheduler, StepError, WorkflowContext, workflow};

#[workflow(version = 1)]
async fn order(_: &WorkflowContext, cents: u32) -> Result<u32, StepError> {
    Ok(cents)
}

fn scheduler(client: &Client) -> Scheduler {
    Scheduler::new(client).register(order(5))
}

fn main() {}
