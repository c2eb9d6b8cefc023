use reattempt_supervisor::{WorkflowContext, workflow};

#[workflow(complete_by = "soon")]
async fn a(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

#[workflow(complete_by = "48h")]
async fn b(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

#[workflow(complete_by = "1.5d")]
async fn c(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

#[workflow(complete_by = "400d")]
async fn d(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

#[workflow(complete_by = "3w")]
async fn e(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

#[workflow(complete_by = "-3s")]
async fn f(_: &WorkflowContext) -> Result<u32, String> {
    Ok(1)
}

fn main() {
    drop((a(), b(), c(), d(), e(), f()));
}
