//! `before_retry`: what has to happen between two attempts, here fetching a new
//! token after a 401. In an async function it may be async.
//!
//! `cargo run --example refresh_token`

use reattempt::retry;

#[derive(Debug, PartialEq)]
enum ApiError {
    Unauthorized,
    NotFound,
}

struct Client {
    token: u32,
}

impl Client {
    /// One retry, at once: a second 401 in a row means that a new token is of no use.
    #[retry(
        max = 2,
        backoff = "none",
        on(ApiError::Unauthorized),
        before_retry = async |_| self.refresh().await,
    )]
    async fn get(&mut self, path: &str) -> Result<String, ApiError> {
        service(self.token, path).await
    }

    async fn refresh(&mut self) {
        tokio::task::yield_now().await;
        self.token += 1;
        println!("new token: {}", self.token);
    }
}

/// Accepts the second token only.
async fn service(token: u32, path: &str) -> Result<String, ApiError> {
    tokio::task::yield_now().await;
    match (token, path) {
        (2, "/orders/7") => Ok("order 7".to_owned()),
        (2, _) => Err(ApiError::NotFound),
        _ => Err(ApiError::Unauthorized),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut client = Client { token: 1 };
    let order = client.get("/orders/7").await;
    println!("{order:?}");
    assert_eq!(order, Ok("order 7".to_owned()));

    let missing = client.get("/orders/8").await;
    println!("{missing:?}");
    assert_eq!(missing, Err(ApiError::NotFound));
    assert_eq!(client.token, 2);

    client.token = 7;
    assert_eq!(client.get("/orders/7").await, Err(ApiError::Unauthorized));
    assert_eq!(client.token, 8);
}
