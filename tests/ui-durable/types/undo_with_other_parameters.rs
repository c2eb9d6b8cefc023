use reattempt_supervisor::{Step, step};

#[step]
async fn short(_: &Step, _answer: &u32) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn other(_: &Step, _what: u32, _answer: &String) -> Result<u32, String> {
    Ok(1)
}

#[step(undo = short)]
async fn pay(_: &Step, _what: &str) -> Result<u32, String> {
    Ok(1)
}

#[step(undo = other)]
async fn ship(_: &Step, _what: &str) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
