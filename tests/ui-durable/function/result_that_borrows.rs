use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

#[step]
async fn pay(_: &Step) -> Result<&'static str, String> {
    Ok("")
}

#[workflow]
async fn order(_: &WorkflowContext) -> Result<Option<&str>, String> {
    Ok(None)
}

fn main() {}
