//! The services that the steps of an order call, and a server that fails two calls of three.

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
use reattempt_supervisor::Step;

/// The services that the steps call.
pub(crate) struct Shop {
    client: reqwest::Client,
    url: String,
}

impl Shop {
    pub(crate) fn at(url: String) -> Self {
        let client = reqwest::Client::new();
        Self { client, url }
    }

    /// The key makes a call that was made twice happen once.
    pub(crate) async fn call(&self, step: &Step, what: &str) -> Result<String, reqwest::Error> {
        let request = self.client.post(format!("{}/{what}", self.url));
        let response = request.header("idempotency-key", step.key()).send().await?;
        response.error_for_status()?.text().await
    }
}

/// What the server has done, by key; in a file, so that it knows it when it is started again.
struct Effects {
    file: PathBuf,
    keys: Mutex<HashSet<String>>,
    calls: Mutex<u32>,
}

/// Fails two calls of three.
pub(crate) async fn flaky_server(file: PathBuf) -> Result<String, Box<dyn Error>> {
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
