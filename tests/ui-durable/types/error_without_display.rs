use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

struct Broken;

#[step]
async fn pay(_: &Step) -> Result<u32, Broken> {
    Err(Broken)
}

#[step(retry(on(_)))]
async fn again(_: &Step) -> Result<u32, Broken> {
    Err(Broken)
}

#[workflow]
async fn order(_: &WorkflowContext) -> Result<u32, Broken> {
    Err(Broken)
}

fn main() {}
