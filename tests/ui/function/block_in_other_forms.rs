use std::io;

use reattempt::retry_block;

fn fetch() -> io::Result<u32> {
    Ok(1)
}

async fn send() -> io::Result<u32> {
    Ok(1)
}

async fn later() -> io::Result<()> {
    let _: io::Result<u32> = retry_block!(max = 3, send().await);
    let _: u32 = retry_block!(max = 3, send().await?);
    let _: io::Result<u32> = retry_block!(max = 3, async { send().await }.await);
    let _: u32 = retry_block!(max = 3, async { send().await }.await?);
    retry_block!(max = 3, async { send().await?; }).await
}

fn now() -> io::Result<()> {
    let _: io::Result<u32> = retry_block!(3, || -> io::Result<u32> { fetch() });
    let _: io::Result<u32> = retry_block!("storage", || -> io::Result<u32> { fetch() });
    let _: io::Result<u32> = retry_block!(max = 3, fn ask() -> io::Result<u32> { fetch() });
    let _: io::Result<u32> = retry_block!(max = 3, async fn ask() -> io::Result<u32> { fetch() });
    let _: io::Result<u32> = retry_block!(|| -> io::Result<u32> { fetch() }.max(3));
    let _: io::Result<u32> = retry_block!(|| { fetch() }.with_max_times(3));
    let _: io::Result<u32> = retry_block!({ fetch() }.max(3).base("1s"));
    let _: io::Result<u32> = retry_block!(max = 3, (|| fetch()));
    let _: u32 = retry_block!(max = 3, fetch()?);
    let _: io::Result<u32> = retry_block!(max = 3, io::empty().by_ref());
    retry_block!(max = 3, { fetch()?; })
}

fn main() {
    let _ = (now(), later());
}
