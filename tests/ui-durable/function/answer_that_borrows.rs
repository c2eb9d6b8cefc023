use reattempt_supervisor::{Flow, Step, step, workflow};

#[step]
async fn pay(_: &Step) -> Result<&'static str, String> {
    Ok("")
}

#[workflow]
async fn order(_: &Flow) -> Result<Option<&str>, String> {
    Ok(None)
}

fn main() {}
