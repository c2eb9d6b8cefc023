use reattempt_supervisor::{Step, WorkflowContext, step};

async fn refund(_: &Step, _answer: &u32) -> Result<(), String> {
    Ok(())
}

fn plain(_: &WorkflowContext, _answer: &u32) {}

#[step(undo = refund)]
async fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step(undo = plain)]
async fn ship(_: &Step) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
