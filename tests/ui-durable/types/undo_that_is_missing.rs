use reattempt_supervisor::{Step, step};

#[step(undo = missing)]
async fn send(_: &Step) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
