use reattempt_supervisor::{Step, step};

#[step(key = "order")]
async fn text(_step: &Step, order: u64) -> Result<u64, String> {
    Ok(order)
}

#[step(key)]
async fn nothing(_step: &Step, order: u64) -> Result<u64, String> {
    Ok(order)
}

fn main() {}
