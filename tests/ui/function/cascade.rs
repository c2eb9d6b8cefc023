use reattempt::{retry, retry_block};

/// Refused; what calls them is not.
#[retry(max = 0, on(_))]
pub fn refused(value: u32) -> Result<u32, String> {
    Ok(value)
}

struct Client;

impl Client {
    #[retry(maks = 3)]
    async fn refused(&mut self) -> Result<u32, String> {
        Ok(1)
    }
}

async fn caller() -> Result<u32, String> {
    Ok(refused(1)? + Client.refused().await?)
}

fn main() {
    let _ = caller();
    let value: u32 = retry_block!(max = 0, on(_), { Ok::<u32, String>(1) }).unwrap_or(1);
    let _ = value;
}
