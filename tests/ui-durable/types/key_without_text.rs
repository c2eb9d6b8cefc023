use reattempt_supervisor::{Step, step};

struct Silent;

#[step(key = Silent)]
async fn silent(_step: &Step, order: u64) -> Result<u64, String> {
    Ok(order)
}

fn main() {}
