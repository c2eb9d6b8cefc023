use reattempt_supervisor::{WorkflowContext, workflow};

struct Cart;

#[workflow]
async fn order(_: &WorkflowContext, _count: u32, _cart: Cart) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
