use reattempt_supervisor::{Step, step};

struct Cart;

#[step]
async fn pay(_: &Step, _cart: &Cart, _count: u32) -> Result<u32, String> {
    Ok(1)
}

#[step(args = "ignore")]
async fn look(_: &Step, _cart: &Cart) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
