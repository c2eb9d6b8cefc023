//! `feed/mod.rs`, and below it `feed/parse.rs` with `feed/parse/dates.rs`.

pub mod parse;

use reattempt::{retry, retry_block};

asks! { title: 2, author: 3 }

/// Blocks in blocks, and in a list.
pub fn all(count: &mut u32) -> Vec<Result<u32, String>> {
    let mut next = || -> Result<u32, String> {
        *count += 1;
        Err(count.to_string())
    };
    //~ outer
    let outer: Result<u32, String> = retry_block!(max = 2, backoff = "none", on(_), {
        //~ inner
        let inner: Result<u32, String> = retry_block!(max = 3, backoff = "none", on(_), { next() });
        inner
    });
    vec![
        outer,
        //~ listed
        retry_block!(max = 2, base = "1ms", on(_), { one() }),
        stubborn!(one()),
    ]
}

//~ one
#[retry(max = 3, base = "1ms", jitter = "equal", on(_))]
fn one() -> Result<u32, String> {
    parse::dates::year("2026")
        .ok_or_else(|| title().map_or_else(|error| error, |title| title.to_string()))
}

/// Closures: their calls are those of the function around.
pub async fn later() -> Result<String, &'static str> {
    let plain = |url: &'static str| async move { crate::shared::page(url).await };
    let closure = async |url: &str| {
        //~ closure
        retry_block!(max = 2, base = "3s", jitter = "none", on(_), async {
            plain("x").await.map(|it| it + url)
        })
        .await
    };
    closure("y").await
}
