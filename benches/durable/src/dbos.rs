//! dbos on PostgreSQL: workflows that are started here and not through a queue, which is its fastest way.

use std::time::Duration;

use ::dbos::{Config, DBOS, Result, step};

use crate::flood::flood;

async fn one(number: u32) -> Result<u32> {
    Ok(number + 1)
}

async fn ten(mut number: u32) -> Result<u32> {
    for _ in 0..10 {
        number = step("one", move || one(number)).await?;
    }
    Ok(number)
}

pub async fn measure(url: &str, in_flight: usize, time: Duration) -> f64 {
    let dbos = DBOS::new(Config {
        app_version: Some("1".to_owned()),
        ..Config::new("bench", url)
    });
    let ten = dbos.register_workflow("ten", ten).expect("a name");
    dbos.launch().await.expect("tables");
    let rate = flood(in_flight, time, move |_| {
        let ten = ten.clone();
        async move { assert_eq!(ten.run(0).await.expect("an answer"), 10) }
    })
    .await;
    dbos.shutdown().await;
    rate
}
