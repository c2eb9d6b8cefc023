use reattempt::retry_block;

async fn run() {
    let _ = retry_block!(on(_), deadline = "3s", async || -> Result<u32, String> { Ok(1) }).await;
}

fn main() {
    let _ = run();
}
