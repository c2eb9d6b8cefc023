use reattempt_supervisor::{WorkflowContext, workflow};

#[workflow]
async fn order(_: &WorkflowContext, _cart: &str, _other: Option<&u32>) -> Result<u32, String> {
    Ok(1)
}

#[workflow]
async fn named<'a>(_: &WorkflowContext, _cart: std::borrow::Cow<'a, str>) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
