use reattempt_supervisor::{Flow, Step, StepError, step, workflow};

#[step]
async fn pay(_: &Step, _what: &str, #[with] _log: &String, _amount: u32) -> Result<u32, String> {
    Ok(1)
}

#[workflow]
async fn order(flow: &Flow, log: String) -> Result<u32, StepError> {
    pay(flow, "book").await?;
    pay(flow, 5, 5).await?;
    pay(flow, "book", &log, 5).await
}

fn main() {
    drop(order());
    drop(order(5));
}
