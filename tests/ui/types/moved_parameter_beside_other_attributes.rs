//! Below `#[retry]` and around it: the error stands at the body that moves the parameter, with its line.

use reattempt::retry;

#[retry(max = 3, on(_))]
#[tracing::instrument(skip_all)]
async fn instrumented_inside(url: String) -> Result<Vec<u8>, String> {
    Ok(url.into_bytes())
}

#[async_trait::async_trait]
trait Service: Sized {
    async fn fetch(&self, url: String) -> Result<Vec<u8>, String>;
    async fn fetch_once(self, url: String) -> Result<Vec<u8>, String>;
}

#[derive(Clone)]
struct Client;

#[async_trait::async_trait]
impl Service for Client {
    #[retry(max = 3, on(_))]
    async fn fetch(&self, url: String) -> Result<Vec<u8>, String> {
        Ok(url.into_bytes())
    }

    #[retry(max = 3, on(_), clone(self))]
    async fn fetch_once(self, url: String) -> Result<Vec<u8>, String> {
        drop(self);
        Ok(url.into_bytes())
    }
}

#[async_trait::async_trait]
trait Finish {
    async fn finish(self) -> Result<Vec<u8>, String>;
}

struct Once(Vec<u8>);

// A field of what has no copies.
#[async_trait::async_trait]
impl Finish for Once {
    #[retry(max = 3, on(_))]
    async fn finish(self) -> Result<Vec<u8>, String> {
        Ok(self.0)
    }
}

fn main() {
    let _ = instrumented_inside(String::new());
    let _ = Client.fetch(String::new());
    let _ = Client.fetch_once(String::new());
    let _ = Once(Vec::new()).finish();
}
