//! One measurement of durare: `URL` and a load, answered with workflows a second.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark ends where it cannot go on"
)]

#[path = "../../src/flood.rs"]
mod flood;
#[path = "../../src/load.rs"]
#[expect(dead_code, reason = "what makes the arguments of this process is used beside it")]
mod load;

use std::sync::Arc;

use durare::{DurableContext, DurableEngine, PostgresProvider, Result, WorkflowOptions};
use load::Load;
use sqlx::postgres::PgPoolOptions;

#[durare::step]
async fn one(ctx: &DurableContext) -> Result<String> {
    Ok(load::step().await)
}

#[durare::workflow]
async fn ten(ctx: DurableContext, mut number: u32) -> Result<u32> {
    for _ in 0..10 {
        one(&ctx).await?;
        number += 1;
    }
    Ok(number)
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [url, ref load @ ..] = arguments[..] else {
        panic!("a URL and a load");
    };
    let load = Load::of(load.try_into().expect("a load"));
    let engine = if url.starts_with("postgres:") {
        // Tables of its schema, as `connect` has them, and a pool of this size.
        let pool = PgPoolOptions::new().max_connections(load.pool);
        let pool = pool.connect(url).await.expect("a server");
        let provider = PostgresProvider::from_pool_with_schema(pool, "dbos");
        DurableEngine::builder(Arc::new(provider.expect("a schema")))
    } else {
        DurableEngine::connect(url).await.expect("a store")
    };
    let engine = engine.build().await.expect("tables");
    engine.launch().await.expect("an engine");
    let engine = Arc::new(engine);
    let rate = flood::flood(load.in_flight, load.time, move |_| {
        let engine = Arc::clone(&engine);
        async move {
            let options = WorkflowOptions::default();
            let started = engine.start::<_, u32>("ten", 0, options).await;
            let answer = started.expect("a start").result().await;
            assert_eq!(answer.expect("an answer"), 10);
        }
    });
    println!("{}", rate.await);
}
