use std::io;

use reattempt::retry_block;

fn read() -> io::Result<String> {
    retry_block!(max = 3, { std::fs::read_to_string("x")? })
}

fn length() -> io::Result<usize> {
    let length = retry_block!(max = 3, {
        let text = std::fs::read_to_string("x")?;
        text.len()
    })?;
    Ok(length)
}

async fn later() -> io::Result<Vec<u8>> {
    let bytes = retry_block!(max = 3, async { tokio::fs::read("x").await? }).await?;
    Ok(bytes)
}

fn option() -> Option<String> {
    retry_block!(max = 3, { std::fs::read_to_string("x").ok()? })
}

fn main() {}
