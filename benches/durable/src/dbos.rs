//! dbos on PostgreSQL: workflows that are started here and not through a queue, which is its fastest way.

use ::dbos::{Config, DBOS, Result, step};

use crate::flood::flood;
use crate::load::{self, Load};

async fn one() -> Result<String> {
    Ok(load::step().await)
}

async fn ten(mut number: u32) -> Result<u32> {
    for _ in 0..10 {
        step("one", one).await?;
        number += 1;
    }
    Ok(number)
}

pub async fn measure(url: &str, load: Load) -> f64 {
    let dbos = DBOS::new(Config {
        app_version: Some("1".to_owned()),
        max_connections: load.pool,
        ..Config::new("bench", url)
    });
    let ten = dbos.register_workflow("ten", ten).expect("a name");
    dbos.launch().await.expect("tables");
    let rate = flood(load.in_flight, load.time, move |_| {
        let ten = ten.clone();
        async move { assert_eq!(ten.run(0).await.expect("an answer"), 10) }
    })
    .await;
    dbos.shutdown().await;
    rate
}
