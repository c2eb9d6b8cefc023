use std::rc::Rc;

use reattempt_supervisor::{Flow, workflow};

#[workflow]
async fn order(_: &Flow) -> Result<u32, String> {
    let one = Rc::new(1);
    std::future::ready(()).await;
    Ok(*one)
}

fn main() {}
