//! Methods: `&mut self` in an async function, and one of an `#[async_trait]`.
//!
//! `cargo run --example method`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::collections::HashMap;
use std::io::{Error, ErrorKind};

use async_trait::async_trait;
use reattempt::retry;

#[async_trait]
trait Store {
    async fn put(&mut self, key: &str, value: String) -> Result<(), Error>;
}

/// A connection that is lost at every request but the third, the sixth, ...
#[derive(Default)]
struct Remote {
    requests: u32,
    values: HashMap<String, String>,
}

impl Remote {
    #[retry(base = "5ms")]
    async fn get(&mut self, key: &str) -> Result<Option<String>, Error> {
        self.request().await?;
        Ok(self.values.get(key).cloned())
    }

    async fn request(&mut self) -> Result<(), Error> {
        tokio::task::yield_now().await;
        self.requests += 1;
        if self.requests.is_multiple_of(3) {
            Ok(())
        } else {
            Err(ErrorKind::ConnectionReset.into())
        }
    }
}

#[async_trait]
impl Store for Remote {
    /// The body moves `value`, so each attempt is given a clone of it.
    #[retry(base = "5ms", clone(value))]
    async fn put(&mut self, key: &str, value: String) -> Result<(), Error> {
        self.request().await?;
        self.values.insert(key.to_owned(), value);
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut remote = Remote::default();
    remote.put("colour", "blue".to_owned()).await?;
    let colour = remote.get("colour").await?;
    println!("{colour:?} after {} requests", remote.requests);
    assert_eq!(colour.as_deref(), Some("blue"));
    assert_eq!(remote.requests, 6);
    Ok(())
}
