use reattempt_supervisor::{Step, step};

struct Cart;

#[step(undo = refund)]
async fn pay(_: &Step, _cart: &Cart) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn refund(_: &Step, _cart: &Cart, _answer: &u32) -> Result<u32, String> {
    Ok(1)
}

#[step(undo = repay)]
async fn buy(_: &Step, _cart: Cart) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn repay(_: &Step, _cart: Cart, _answer: &u32) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
