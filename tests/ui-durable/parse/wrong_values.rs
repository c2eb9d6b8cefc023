use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};

#[step(complete_by = 30, name = 5, undo = "refund", undo_unknown = 5, args = "skip")]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step(retry = 5, undo = |context| refund(context), complete_by)]
async fn buy(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step(retry, undo, name = "a b")]
async fn refund(_: &Step, _answer: &u32) -> Result<u32, String> {
    Ok(1)
}

#[workflow(version = "two", max_failures = -1, name = "", on_failure = "stay")]
async fn order(context: &WorkflowContext) -> Result<u32, StepError> {
    pay(context).await?;
    buy(context).await?;
    refund(context, &1).await
}

#[workflow(version = 3000000000, max_failures, on_failure = Keep, complete_by = 5m, crate = 7)]
async fn nothing(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

fn main() {
    drop((order(), nothing()));
}
