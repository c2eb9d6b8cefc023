use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

struct Receipt;

#[derive(serde::Serialize)]
struct Half;

#[step]
async fn pay(_: &Step) -> Result<Receipt, String> {
    Ok(Receipt)
}

#[step(retry(on(_)))]
async fn again(_: &Step) -> Result<Half, String> {
    Ok(Half)
}

#[workflow]
async fn order(_: &WorkflowContext) -> Result<Receipt, String> {
    Ok(Receipt)
}

fn main() {}
