use std::io;

use reattempt::retry_block;

fn fetch() -> io::Result<u32> {
    Ok(1)
}

async fn send() -> io::Result<u32> {
    Ok(1)
}

fn now() -> io::Result<u32> {
    retry_block!(max = 3, { fetch(); })
}

fn asked() -> io::Result<u32> {
    let count = retry_block!({ fetch().map(|it| it + 1); })?;
    Ok(count)
}

async fn later() -> io::Result<u32> {
    retry_block!(max = 3, async { send().await; }).await
}

fn main() {
    let _ = (now(), asked(), later());
}
