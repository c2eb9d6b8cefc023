use reattempt_supervisor::{Flow, Step, step, workflow};

#[step]
async fn pay(_: &Step) -> Result<u32, String>;

#[workflow]
async fn order(_: &Flow) -> Result<u32, String>;

fn main() {}
