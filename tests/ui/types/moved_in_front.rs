//! What stands in front of the async block that is retried is made once.

use std::future::Future;
use std::pin::Pin;

use reattempt::retry;

#[retry(max = 3, on(_))]
fn refuse() -> impl Future<Output = Result<u32, String>> {
    let error = String::new();
    async { Err(error) }
}

#[retry(max = 3, on(_))]
fn hidden(url: &'static str) -> impl Future<Output = Result<String, String>> {
    let url = url.to_owned();
    let size = url.len();
    async move { if size > 3 { Err(url) } else { Ok(size.to_string()) } }
}

struct Service;

impl Service {
    async fn ask(&self, request: String) -> Result<u32, String> {
        request.parse().map_err(|_| request)
    }

    #[retry(max = 3, on(_))]
    fn call<'s>(
        &'s mut self,
        request: String,
    ) -> Pin<Box<dyn Future<Output = Result<u32, String>> + Send + 's>> {
        let answer = self.ask(request);
        Box::pin(async move { answer.await })
    }
}

fn main() {}
