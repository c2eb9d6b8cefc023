//! One measurement of durare: `URL IN_FLIGHT SECONDS`, answered with workflows a second.
#![expect(clippy::expect_used, reason = "a benchmark ends where it cannot go on")]

#[path = "../../src/flood.rs"]
mod flood;

use std::sync::Arc;
use std::time::Duration;

use durare::{DurableContext, DurableEngine, Result, WorkflowOptions};

#[durare::step]
async fn one(ctx: &DurableContext, number: u32) -> Result<u32> {
    Ok(number + 1)
}

#[durare::workflow]
async fn ten(ctx: DurableContext, mut number: u32) -> Result<u32> {
    for _ in 0..10 {
        number = one(&ctx, number).await?;
    }
    Ok(number)
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().expect("URL IN_FLIGHT SECONDS");
    let url = argument();
    let in_flight = argument().parse().expect("a number");
    let time = Duration::from_secs_f64(argument().parse().expect("seconds"));
    let engine = DurableEngine::connect(&url).await.expect("a store");
    let engine = engine.build().await.expect("tables");
    engine.launch().await.expect("an engine");
    let engine = Arc::new(engine);
    let rate = flood::flood(in_flight, time, move |_| {
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
