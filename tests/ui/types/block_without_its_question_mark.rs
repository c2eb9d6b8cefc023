use std::io;

use reattempt::retry_block;

fn now() -> io::Result<u32> {
    let answer: u32 = retry_block!(max = 3, || -> io::Result<u32> { Ok(1) });
    Ok(answer)
}

fn limited() -> io::Result<u32> {
    let answer: u32 = retry_block!(deadline = "1m", || -> io::Result<u32> { Ok(1) });
    Ok(answer)
}

async fn later() -> io::Result<u32> {
    let answer: u32 = retry_block!(max = 3, async || -> io::Result<u32> { Ok(1) }).await;
    Ok(answer)
}

fn main() {
    let _ = (now(), limited(), later());
}
