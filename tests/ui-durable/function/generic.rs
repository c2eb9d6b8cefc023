use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

#[step]
async fn pay<T: Send>(_: &Step, _what: T) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn ship(_: &Step, _what: impl Send) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn send(_: &Step, _what: &[impl Send]) -> Result<u32, String> {
    Ok(1)
}

#[workflow]
async fn order<const N: usize>(_: &WorkflowContext) -> Result<usize, String> {
    Ok(N)
}

fn main() {}
