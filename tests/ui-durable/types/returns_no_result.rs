use reattempt_supervisor::{Flow, Step, step, workflow};

#[step]
async fn pay(_: &Step) -> Option<u32> {
    Some(1)
}

#[workflow]
async fn order(_: &Flow) -> u32 {
    1
}

fn main() {}
