//! The type of `?` is known where the block is a closure that names it, or where its value goes.

use reattempt::retry_block;

fn closure() {
    let answer = retry_block!(on(_), || {
        let x: u32 = "5".parse()?;
        Ok(x)
    });
    let _ = answer;
}

async fn later() {
    let answer = retry_block!(on(_), async {
        let x: u32 = "5".parse()?;
        Ok(x)
    });
    let _ = answer.await;
}

fn main() {
    closure();
    let _ = later();
}
