use reattempt_supervisor::{Flow, Step, step, workflow};

#[step]
async fn pay(_: &Step) {}

#[workflow]
async fn order(_: &Flow) {}

fn main() {}
