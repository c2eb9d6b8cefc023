use std::rc::Rc;

use reattempt_supervisor::{WorkflowContext, workflow};

#[workflow]
async fn order(_: &WorkflowContext) -> Result<u32, String> {
    let one = Rc::new(1);
    std::future::ready(()).await;
    Ok(*one)
}

fn main() {}
