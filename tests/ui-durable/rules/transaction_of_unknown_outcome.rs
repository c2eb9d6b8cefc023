use reattempt_supervisor::{Committed, Step, step};

#[step(transaction, undo_unknown = refund)]
async fn pay(step: &Step) -> Result<Committed<u32>, String> {
    Ok(step.record(1).map_err(|error| error.to_string())?.succeeded())
}

#[step]
async fn refund(_: &Step) -> Result<(), String> {
    Ok(())
}

fn main() {
    drop(pay);
}
