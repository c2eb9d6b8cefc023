use reattempt_supervisor::{Flow, Step, StepError, step, workflow};

#[step(max = 5, complete_by = "30s")]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step(on(_))]
async fn ship(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow(deadline = "30s")]
async fn order(flow: &Flow) -> Result<u32, StepError> {
    pay(flow).await?;
    ship(flow).await
}

#[workflow(retry(max = 3))]
async fn nothing(_: &Flow) -> Result<u32, String> {
    Ok(1)
}

fn main() {
    drop((order(), nothing()));
}
