use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};

#[step]
async fn pay(_: &Step, _what: &str, #[with] _log: &String, _amount: u32) -> Result<u32, String> {
    Ok(1)
}

#[workflow]
async fn order(context: &WorkflowContext, log: String) -> Result<u32, StepError> {
    pay(context, "book").await?;
    pay(context, 5, 5).await?;
    pay(context, "book", &log, 5).await
}

fn main() {
    drop(order());
    drop(order(5));
}
