//! What the messages about the parts of `retry_block!` name does compile.

use std::io;

use reattempt::retry_block;

fn fetch() -> io::Result<u32> {
    Ok(1)
}

async fn send() -> io::Result<u32> {
    Ok(1)
}

async fn later() -> io::Result<()> {
    let _: io::Result<u32> = retry_block!(max = 3, async { send().await }).await;
    let _: u32 = retry_block!(max = 3, async { send().await }).await?;
    retry_block!(max = 3, async {
        send().await?;
        Ok(())
    })
    .await
}

fn now() -> io::Result<()> {
    let _: u32 = retry_block!(max = 3, { fetch() })?;
    let _: io::Result<u32> = retry_block!(max = 3, || -> io::Result<u32> { fetch() });
    let _: u32 = retry_block!(max = 3, || fetch())?;
    retry_block!(max = 3, {
        fetch()?;
        Ok(())
    })
}

fn main() {
    assert!(now().is_ok());
    drop(later());
}
