use reattempt::retry;

/// As in the crate of that name.
mod anyhow {
    #[derive(Debug)]
    pub struct Error;
    pub type Result<T> = core::result::Result<T, Error>;
}

#[retry]
fn fetch() -> anyhow::Result<u32> {
    Err(anyhow::Error)
}

#[retry]
async fn fetch_later() -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    Err("broken".into())
}

mod imported {
    use super::anyhow::{Error, Result};

    #[reattempt::retry]
    pub fn fetch() -> Result<u32> {
        Err(Error)
    }
}

fn main() {
    let _ = (fetch(), imported::fetch());
    drop(fetch_later());
}
