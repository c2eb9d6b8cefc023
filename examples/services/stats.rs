//! An admin page: what was retried since the start, as HTML for people and as JSON for machines.
//!
//! `cargo run -p service-examples --example stats` asks itself once and ends; `-- serve` stays, to be looked at in a browser.
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::io::{Error, ErrorKind};
use std::time::Duration;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use reattempt::retry;
use tokio::net::TcpListener;

#[retry(name = "rates.fetch", max = 3, base = "1ms")]
async fn rate(failures: &mut u32) -> Result<f64, Error> {
    if *failures > 0 {
        *failures -= 1;
        return Err(ErrorKind::ConnectionReset.into());
    }
    Ok(1.09)
}

async fn page() -> Html<String> {
    Html(reattempt::observe::stats_page(Some(Duration::from_secs(5))))
}

async fn json() -> impl IntoResponse {
    let json = serde_json::to_string(&reattempt::observe::stats()).unwrap_or_default();
    ([(CONTENT_TYPE, "application/json")], json)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    for failures in [0, 1, 9] {
        let _ = rate(&mut { failures }).await;
    }
    println!("{}\n", reattempt::observe::stats());

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let app = Router::new()
        .route("/retries", get(page))
        .route("/retries.json", get(json));
    let server = tokio::spawn(async move { axum::serve(listener, app).await });

    let json = reqwest::get(format!("http://{address}/retries.json")).await?;
    let stats: serde_json::Value = serde_json::from_str(&json.text().await?)?;
    println!("{stats:#}");
    let fetch = &stats["operations"][0];
    assert_eq!(fetch["operation"], "rates.fetch");
    assert_eq!(
        (&fetch["calls"], &fetch["failed_attempts"]),
        (&2.into(), &4.into())
    );

    let page = reqwest::get(format!("http://{address}/retries")).await?;
    assert!(page.text().await?.contains("rates.<wbr>fetch"));
    if std::env::args().nth(1).as_deref() == Some("serve") {
        println!("http://{address}/retries");
        server.await??;
    }
    Ok(())
}
