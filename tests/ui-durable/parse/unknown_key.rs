use reattempt_supervisor::{Flow, Step, StepError, step, workflow};

#[step(complet_by = "30s")]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step(queue = "fast")]
async fn ship(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow(max_failure = 3)]
async fn order(flow: &Flow) -> Result<u32, StepError> {
    pay(flow).await?;
    ship(flow).await
}

#[workflow(3)]
async fn nothing(_: &Flow) -> Result<u32, String> {
    Ok(1)
}

fn main() {
    drop((order(), nothing()));
}
