//! Futures that may not borrow what each attempt needs.

use std::future::Future;
use std::io::Error;
use std::pin::Pin;

use futures::future::BoxFuture;
use reattempt::retry;

#[derive(Clone)]
pub struct Client {
    url: String,
}

async fn connect(url: String) -> Result<usize, Error> {
    Ok(url.len())
}

async fn send(client: Client) -> Result<usize, Error> {
    connect(client.url).await
}

trait Connect {
    fn connect(&self) -> BoxFuture<'static, Result<usize, Error>>;
}

impl Connect for Client {
    #[retry]
    fn connect(&self) -> BoxFuture<'static, Result<usize, Error>> {
        Box::pin(send(self.clone()))
    }
}

impl Client {
    #[retry]
    pub fn boxed(&self) -> Pin<Box<dyn Future<Output = Result<usize, Error>> + Send>> {
        Box::pin(send(self.clone()))
    }

    #[retry]
    pub fn opaque(&self) -> impl Future<Output = Result<usize, Error>> + use<> {
        let client = self.clone();
        send(client)
    }

    #[retry]
    fn of_two(&self, url: &str) -> impl Future<Output = Result<usize, Error>> + 'static {
        connect(format!("{}{url}", self.url) + url)
    }
}

#[retry]
fn fetch(url: &str) -> Pin<Box<dyn Future<Output = Result<usize, Error>>>> {
    Box::pin(connect(url.to_owned()))
}

fn main() {
    let _ = (fetch, Client::of_two);
}
