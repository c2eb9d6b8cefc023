use super::Store;

pub struct Disk;

impl Store for Disk {
    //~ disk
    #[reattempt::retry(
        max = 6,
        base = "1s",
        cap = "3s",
        backoff = "linear",
        jitter = "none",
        on(_)
    )]
    async fn load(&self, key: &str) -> Result<Vec<u8>, String> {
        Ok(key.into())
    }
}
