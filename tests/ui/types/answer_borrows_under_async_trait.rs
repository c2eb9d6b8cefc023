//! `#[async_trait]` moves the parameters into the future, and calls `self` by another name.

use reattempt::retry;

struct Client {
    page: String,
}

struct Transaction<'a>(&'a mut Client);

impl Client {
    async fn begin(&mut self) -> Result<Transaction<'_>, String> {
        Ok(Transaction(self))
    }

    async fn load(&mut self) -> Result<String, String> {
        Ok(String::new())
    }
}

#[async_trait::async_trait]
trait Connection {
    async fn transaction<'a>(&'a mut self) -> Result<Transaction<'a>, String>;
    async fn page<'a>(&'a mut self) -> Result<&'a str, String>;
    async fn taken<'a>(&'a mut self) -> Result<Transaction<'a>, String>;
    async fn read<'a>(&'a mut self) -> Result<&'a str, String>;
}

#[async_trait::async_trait]
impl Connection for Client {
    #[retry(max = 3, on(_))]
    async fn transaction<'a>(&'a mut self) -> Result<Transaction<'a>, String> {
        self.begin().await
    }

    #[retry(max = 3, on(_))]
    async fn page<'a>(&'a mut self) -> Result<&'a str, String> {
        let page = self.load().await?;
        self.page = page;
        Ok(&self.page)
    }

    #[retry(max = 3, on(_))]
    async fn taken<'a>(&'a mut self) -> Result<Transaction<'a>, String> {
        Ok(Transaction(&mut *self))
    }

    #[retry(max = 3, on(_))]
    async fn read<'a>(&'a mut self) -> Result<&'a str, String> {
        Ok(&self.page)
    }
}

fn main() {}
