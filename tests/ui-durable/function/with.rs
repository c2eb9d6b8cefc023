use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

#[step]
async fn by_value(_: &Step, #[with] _log: String) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn unique(_: &Step, #[with] _log: &mut String) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn named(_: &Step, #[with(log)] _log: &String) -> Result<u32, String> {
    Ok(1)
}

#[workflow]
async fn order(_: &WorkflowContext, #[with] _log: String) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
