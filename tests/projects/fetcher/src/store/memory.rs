use super::Store;

pub struct Memory;

impl Store for Memory {
    async fn load(&self, key: &str) -> Result<Vec<u8>, String> {
        Ok(key.into())
    }
}
