use reattempt_supervisor::{Flow, workflow};

struct Cart;

#[workflow]
async fn order(_: &Flow, _count: u32, _cart: Cart) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
