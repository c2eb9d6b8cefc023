use reattempt_supervisor::{Step, WorkflowContext, step, workflow};

#[step]
fn pay(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[workflow]
fn order(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

#[step]
async unsafe fn promised(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step]
async extern "C" fn foreign(_: &Step) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
