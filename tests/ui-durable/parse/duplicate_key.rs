use reattempt_supervisor::{Flow, Step, StepError, step, workflow};

#[step(name = "pay", complete_by = "30s", name = "buy")]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow(version = 1, version = 2)]
async fn order(flow: &Flow) -> Result<u32, StepError> {
    pay(flow).await
}

fn main() {
    drop(order());
}
