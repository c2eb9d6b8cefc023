use std::rc::Rc;

use reattempt_supervisor::{Step, step};

#[step]
async fn pay(_: &Step) -> Result<u32, String> {
    let one = Rc::new(1);
    std::future::ready(()).await;
    Ok(*one)
}

fn main() {}
