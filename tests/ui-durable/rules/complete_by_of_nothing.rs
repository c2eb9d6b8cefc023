use reattempt_supervisor::{Flow, Step, StepError, step, workflow};

#[step(complete_by = "0s")]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow(complete_by = "0ms")]
async fn order(flow: &Flow) -> Result<u32, StepError> {
    pay(flow).await
}

fn main() {
    drop(order());
}
