//! Above and below `#[retry]`: the error is at the body that moves the parameter, and the clone that it proposes is right.

use reattempt::retry;

#[tracing::instrument(skip_all)]
#[retry(max = 3, on(_))]
async fn instrumented(url: String) -> Result<Vec<u8>, String> {
    Ok(url.into_bytes())
}

#[retry(max = 3, on(_))]
#[tracing::instrument(skip_all)]
async fn instrumented_inside(url: String) -> Result<Vec<u8>, String> {
    Ok(url.into_bytes())
}

#[async_trait::async_trait]
trait Service {
    async fn fetch(&self, url: String) -> Result<Vec<u8>, String>;
}

struct Client;

#[async_trait::async_trait]
impl Service for Client {
    #[retry(max = 3, on(_))]
    async fn fetch(&self, url: String) -> Result<Vec<u8>, String> {
        Ok(url.into_bytes())
    }
}

fn main() {
    let _ = (instrumented(String::new()), instrumented_inside(String::new()));
    let _ = Client.fetch(String::new());
}
