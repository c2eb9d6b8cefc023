//! An order of four steps that survives the death of its process. Kill it (`kill -9`, Ctrl-C) in the middle and start it
//! again: it goes on after the last step that is recorded.
//!
//! `cargo run --example orders`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::collections::HashSet;
use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use retry_supervisor::{Flow, Scheduler, Sqlite, Step, StepError, Tasks, step, workflow};

/// The services that the steps call.
struct Shop {
    client: reqwest::Client,
    url: String,
}

impl Shop {
    /// The key makes a call that was made twice happen once.
    async fn call(&self, step: &Step, what: &str) -> Result<String, reqwest::Error> {
        let request = self.client.post(format!("{}/{what}", self.url));
        let response = request.header("idempotency-key", step.key()).send().await?;
        response.error_for_status()?.text().await
    }
}

#[step(retry(max = 4, base = "50ms"), complete_by = "10s", undo = put_back)]
async fn reserve(step: &Step, #[with] shop: &Shop, item: &str) -> Result<String, reqwest::Error> {
    shop.call(step, &format!("reserve-{item}")).await
}

#[step(retry(max = 4, base = "50ms"))]
async fn put_back(
    step: &Step,
    #[with] shop: &Shop,
    item: &str,
    _reserved: &String,
) -> Result<String, reqwest::Error> {
    shop.call(step, &format!("put-back-{item}")).await
}

#[step(retry(max = 4, base = "50ms"), complete_by = "10s", undo = refund)]
async fn pay(step: &Step, #[with] shop: &Shop, cents: u32) -> Result<String, reqwest::Error> {
    shop.call(step, &format!("pay-{cents}")).await
}

#[step(retry(max = 4, base = "50ms"))]
async fn refund(
    step: &Step,
    #[with] shop: &Shop,
    cents: u32,
    _paid: &String,
) -> Result<String, reqwest::Error> {
    shop.call(step, &format!("refund-{cents}")).await
}

#[step(retry(max = 4, base = "50ms"), complete_by = "10s")]
async fn ship(step: &Step, #[with] shop: &Shop, item: &str) -> Result<String, reqwest::Error> {
    shop.call(step, &format!("ship-{item}")).await
}

#[step(retry(max = 4, base = "50ms"), complete_by = "10s")]
async fn thank(step: &Step, #[with] shop: &Shop) -> Result<String, reqwest::Error> {
    shop.call(step, "thank").await
}

#[workflow(name = "order", version = 1, complete_by = "10m")]
async fn order(flow: &Flow, item: String, cents: u32) -> Result<String, StepError> {
    reserve(flow, &item).await?;
    let receipt = pay(flow, cents).await?;
    flow.sleep(Duration::from_millis(500)).await;
    ship(flow, &item).await?;
    thank(flow).await?;
    Ok(receipt)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join("reattempt-orders");
    fs::create_dir_all(&folder)?;
    let shop = Shop {
        client: reqwest::Client::new(),
        url: flaky_server(folder.join("effects.txt")).await?,
    };

    let tasks = Tasks::new(Sqlite::open(folder.join("orders.db")).await?);
    let scheduler = Scheduler::new(&tasks)
        .register(order)
        .with(shop)
        .lease(Duration::from_secs(1))
        .start()?;

    // With the same key it is the same order, also when the process is started again.
    let task = tasks
        .submit(order("book".to_owned(), 1_999).key("order 17"))
        .await?;
    let mut shown = 0;
    task.follow(|progress| {
        for record in progress.history.iter().skip(shown) {
            println!(
                "{:?} {} (fence {})",
                record.kind, record.name, record.fence.0
            );
        }
        shown = progress.history.len();
    })
    .await?;
    let receipt = task.wait().await?;
    println!("order {} is processed: {receipt}", task.id());
    scheduler.stop(Duration::from_secs(1)).await;

    let effects = fs::read_to_string(folder.join("effects.txt"))?;
    println!("what happened in the shop:\n{effects}");
    assert_eq!(effects.lines().count(), 4);
    fs::remove_dir_all(folder)?;
    Ok(())
}

/// What the server has done, by key; in a file, so that it knows it when it is started again.
struct Effects {
    file: PathBuf,
    keys: Mutex<HashSet<String>>,
    calls: Mutex<u32>,
}

/// Fails two calls of three.
async fn flaky_server(file: PathBuf) -> Result<String, Box<dyn Error>> {
    let known = fs::read_to_string(&file).unwrap_or_default();
    let keys = known.lines().filter_map(|line| line.split(' ').next());
    let effects = Effects {
        keys: Mutex::new(keys.map(str::to_owned).collect()),
        file,
        calls: Mutex::default(),
    };
    let router = Router::new()
        .route("/{what}", post(serve))
        .with_state(Arc::new(effects));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async { axum::serve(listener, router).await });
    Ok(url)
}

async fn serve(
    State(effects): State<Arc<Effects>>,
    Path(what): Path<String>,
    headers: HeaderMap,
) -> Result<String, StatusCode> {
    tokio::time::sleep(Duration::from_millis(200)).await;
    let mut calls = effects
        .calls
        .lock()
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    *calls += 1;
    if !calls.is_multiple_of(3) {
        println!("  the server fails: {what}");
        return Err(StatusCode::SERVICE_UNAVAILABLE);
    }
    let key = headers
        .get("idempotency-key")
        .and_then(|key| key.to_str().ok());
    let key = key.ok_or(StatusCode::BAD_REQUEST)?;
    let mut keys = effects
        .keys
        .lock()
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    if keys.insert(key.to_owned()) {
        let file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&effects.file);
        let written = file.and_then(|mut file| writeln!(file, "{key} {what}"));
        written.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    }
    Ok(format!("done: {what}"))
}
