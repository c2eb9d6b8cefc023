use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

#[step]
async fn none() -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn by_value(_: Step) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn unique(_: &mut Step) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn with_first(#[with] _: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow]
async fn order(_cart: u32, _: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
