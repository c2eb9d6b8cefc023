use std::io;

use reattempt::retry;

const DEFAULT: u8 = 3;

#[retry(fallback = DEFAULT)]
fn constant() -> io::Result<u8> {
    Ok(1)
}

struct Client {
    last: String,
}

impl Client {
    #[retry(fallback = self.last.clone())]
    fn field(&self) -> io::Result<String> {
        Ok(String::new())
    }

    #[retry(fallback = self.last)]
    async fn field_later(&self) -> io::Result<String> {
        Ok(String::new())
    }
}

#[retry(fallback = |_| std::fs::read("cache")?)]
fn taken_out() -> io::Result<Vec<u8>> {
    Ok(Vec::new())
}

#[retry(fallback = async |_| tokio::fs::read("cache").await?)]
async fn taken_out_later() -> io::Result<Vec<u8>> {
    Ok(Vec::new())
}

fn main() {}
