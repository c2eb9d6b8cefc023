//! Bodies that look as if an attempt would leave nothing to the next one, or could not stand twice.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use futures::future::BoxFuture;
use futures::{FutureExt as _, TryFutureExt as _};
use reattempt::retry;

#[derive(Clone, Copy)]
struct Id(u32);

#[derive(Clone)]
struct Client(String);

impl Client {
    fn named(&self, id: Id) -> u32 {
        id.0 + self.0.len() as u32
    }

    async fn load(&self, id: u32) -> Result<u32, String> {
        Ok(id)
    }
}

#[retry(max = 3, on(_))]
fn another_error(id: Id) -> Pin<Box<dyn Future<Output = Result<u32, String>>>> {
    let future = async move { u8::try_from(id.0) };
    let future = future.map_ok(u32::from).map_err(|error| error.to_string());
    Box::pin(future)
}

#[retry(max = 3, on(_), clone(url))]
fn a_copy_of_a_variable(url: String) -> impl Future<Output = Result<u32, String>> {
    let url = url + "/";
    async move { url.parse().map_err(|_| url) }
}

#[retry(max = 3, on(_))]
async fn a_name_like_an_attribute(id: Id, cfg: Id) -> Result<u32, String> {
    let both = [cfg, id];
    Ok([cfg.0, id.0].len() as u32 + both[0].0)
}

#[retry(max = 3, on(_))]
async fn items(client: Client) -> Result<u32, String> {
    trait Doubled {
        fn doubled(&self) -> u32;
    }
    const _: () = {
        impl Doubled for Client {
            fn doubled(&self) -> u32 {
                2
            }
        }
    };
    static CALLS: std::sync::Mutex<u32> = std::sync::Mutex::new(0);
    *CALLS.lock().unwrap() += client.doubled();
    Ok(client.named(Id(1)))
}

#[retry(max = 3, on(_))]
async fn statics(client: Client) -> Result<u32, String> {
    static CALLS: std::sync::Mutex<u32> = std::sync::Mutex::new(0);
    fn more(calls: u32) -> u32 {
        calls + 1
    }
    let calls = more(*CALLS.lock().unwrap());
    *CALLS.lock().unwrap() = calls;
    let all = async { client.load(calls).await }.boxed();
    'found: {
        if client.named(Id(calls)) > 3 {
            break 'found;
        }
    }
    all.await
}

#[retry(max = 3, on(_))]
async fn pages(client: Client, mut cursor: String) -> Result<u32, String> {
    let mut size;
    loop {
        (cursor, size) = (client.0.clone() + &cursor, client.load(3).await?);
        if size > 2 {
            return Ok(size);
        }
    }
}

/// What the block does not use is not captured.
#[retry(max = 3, on(_))]
fn a_part(client: Client, other: (String, Rc<u32>)) -> impl Future<Output = Result<u32, String>> + Send {
    drop(client.0);
    async move { other.0.parse().map_err(|_| other.0.clone()) }
}

struct Context<'a> {
    client: &'a Client,
    names: (String, u32),
}

#[retry(max = 3, on(_))]
fn beside_a_reference(context: Context<'_>) -> BoxFuture<'static, Result<u32, String>> {
    let id = context.client.named(Id(1));
    Box::pin(async move {
        if id > 3 {
            return Err(context.names.0.clone());
        }
        Ok(id)
    })
}

/// What has its type by the block alone.
#[retry(max = 3, on(_))]
fn inferred(text: &str) -> impl Future<Output = Result<u32, String>> {
    let id = text.parse().unwrap_or_default();
    async move { Ok(id) }
}

struct Pages {
    page: String,
    pages: u32,
}

impl Pages {
    fn log(&self, _: u32) -> u32 {
        self.pages
    }

    #[retry(max = 3, on(_))]
    fn ignored(&mut self) -> Result<&str, String> {
        let number = 3;
        _ = self.log(number);
        Ok(&self.page)
    }
}

#[tokio::main]
async fn main() {
    let client = || Client(String::new());
    assert_eq!(another_error(Id(3)).await, Ok(3));
    assert_eq!(a_copy_of_a_variable("3".into()).await, Err("3/".into()));
    assert_eq!(a_name_like_an_attribute(Id(1), Id(2)).await, Ok(4));
    assert_eq!(items(client()).await, Ok(1));
    assert_eq!(pages(client(), String::new()).await, Ok(3));
    let other = ("3".to_owned(), Rc::new(3));
    assert_eq!(a_part(client(), other).await, Ok(3));
    assert_eq!(inferred("3").await, Ok(3));
    // What is asked of a copy does not run.
    assert_eq!(statics(client()).await, Ok(1));
    assert_eq!(statics(client()).await, Ok(2));
    let (page, pages) = (String::new(), 3);
    assert_eq!(Pages { page, pages }.ignored(), Ok(""));
}
