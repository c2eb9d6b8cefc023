use reattempt_supervisor::{Committed, Step, step};

#[step(transaction = true)]
async fn pay(step: &Step) -> Result<Committed<u32>, String> {
    Ok(step.record(1).map_err(|error| error.to_string())?.succeeded())
}

fn main() {
    drop(pay);
}
