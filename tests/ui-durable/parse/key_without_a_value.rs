use reattempt_supervisor::{Flow, Step, StepError, step, workflow};

#[step(complete_by =)]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow(version = , name = "order")]
async fn order(flow: &Flow) -> Result<u32, StepError> {
    pay(flow).await
}

fn main() {
    drop(order());
}
