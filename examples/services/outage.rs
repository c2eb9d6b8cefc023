//! An outage that is real: an HTTP server that can answer 120 requests a second hangs for 5 s, while 10 processes call it 52
//! times a second in all with a time-out of 1 s. Once with `#[retry]`, once with `budget = "none"`, once without retries.
//!
//! `cargo run --release -p service-examples --example outage` takes 80 s. It prints how many of the calls of each second have
//! succeeded.
#![expect(
    clippy::cast_precision_loss,
    reason = "small numbers of calls and of seconds"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::hash::{BuildHasher as _, RandomState};
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::routing::get;
use reattempt::http::CheckStatus as _;
use reattempt::retry;
use reqwest::{Client, Response};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until};

const PROCESSES: u32 = 10;
const CALLS_A_SECOND: f64 = 52.0;
const REQUESTS_A_SECOND: f64 = 120.0;
const CALM: Duration = Duration::from_secs(10);
const HANGS: Duration = Duration::from_secs(5);
const WATCHED: Duration = Duration::from_secs(60);
const CLIENT_TIMEOUT: Duration = Duration::from_secs(1);

/// No response, or one of a bad status.
type Failure = reattempt::http::RequestError<reqwest::Error, Response>;

#[retry]
async fn with_retries(client: &Client, url: &str) -> Result<(), Failure> {
    once(client, url).await
}

#[retry(budget = "none")]
async fn without_budget(client: &Client, url: &str) -> Result<(), Failure> {
    once(client, url).await
}

async fn once(client: &Client, url: &str) -> Result<(), Failure> {
    client.get(url).send().await?.check_status()?;
    Ok(())
}

const WAYS: [&str; 3] = ["#[retry]", "#[retry(budget = \"none\")]", "no retry"];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [way, url, begins] = arguments.as_slice() {
        return calls(way, url, begins.parse()?).await;
    }
    let begins = since_1970()?.saturating_add(Duration::from_secs(1));
    let (one, two, three) = tokio::join!(
        outage(WAYS[0], begins),
        outage(WAYS[1], begins),
        outage(WAYS[2], begins)
    );
    let seconds = [one?, two?, three?];
    println!("second  {}", WAYS.join("  "));
    let last = (CALM + HANGS + WATCHED).as_secs();
    for second in 0..last {
        print!("{second:6}");
        for (way, of_way) in WAYS.iter().zip(&seconds) {
            print!("  {:width$}", percent(of_way, second), width = way.len());
        }
        println!();
    }
    let over = (CALM + HANGS).as_secs();
    for (way, of_way) in WAYS.iter().zip(&seconds) {
        let is_well = |second: &u64| (*second..second + 3).all(|it| percent(of_way, it) >= 90);
        match (over..last - 3).find(is_well) {
            Some(second) => println!("{way}: back after {} s", second - over),
            None => println!("{way}: not back after {} s", last - over),
        }
    }
    Ok(())
}

/// The calls that begin in a second, and how many of them succeed.
type Seconds = BTreeMap<u64, (u32, u32)>;

fn percent(seconds: &Seconds, second: u64) -> u32 {
    let (calls, successes) = seconds.get(&second).copied().unwrap_or_default();
    (successes * 100).checked_div(calls).unwrap_or(100)
}

/// Serves, and lets processes call that are this program again.
async fn outage(way: &str, begins: Duration) -> Result<Seconds, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    tokio::spawn(serve(listener, instant(begins)?));
    let mut all = Seconds::new();
    let mut processes = Vec::new();
    for _ in 0..PROCESSES {
        let begins = begins.as_millis().to_string();
        let mut process = Command::new(std::env::current_exe()?)
            .args([way, &url, &begins])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let lines = process.stdout.take().ok_or("a process without output")?;
        processes.push((process, BufReader::new(lines).lines()));
    }
    for (_process, lines) in &mut processes {
        while let Some(line) = lines.next_line().await? {
            let (second, success) = line.split_once(' ').ok_or("two numbers in each line")?;
            let of_second = all.entry(second.parse()?).or_default();
            of_second.0 += 1;
            of_second.1 += success.parse::<u32>()?;
        }
    }
    Ok(all)
}

/// Answers one request after the other, also those whose client has gone.
async fn serve(listener: TcpListener, begins: Instant) -> std::io::Result<()> {
    let (queue, mut waiting) = mpsc::unbounded_channel::<oneshot::Sender<()>>();
    let handler = move || {
        let (answer, answered) = oneshot::channel();
        let is_queued = queue.send(answer);
        async move {
            let _ = is_queued;
            let _ = answered.await;
        }
    };
    tokio::spawn(async move {
        let hangs = begins + CALM..begins + CALM + HANGS;
        let mut free = Instant::now();
        while let Some(answer) = waiting.recv().await {
            free = free.max(Instant::now());
            if hangs.contains(&free) {
                free = hangs.end;
            }
            free += Duration::from_secs_f64(1.0 / REQUESTS_A_SECOND);
            sleep_until(free).await;
            let _ = answer.send(());
        }
    });
    axum::serve(listener, Router::new().route("/", get(handler))).await
}

/// One of the processes: it begins calls at random times, however many have not ended.
async fn calls(way: &str, url: &str, begins: u64) -> Result<(), Box<dyn Error>> {
    let begins = instant(Duration::from_millis(begins))?;
    let client = Client::builder().timeout(CLIENT_TIMEOUT).build()?;
    let mean = f64::from(PROCESSES) / CALLS_A_SECOND;
    let end = begins + CALM + HANGS + WATCHED;
    let mut next = begins;
    let mut calls = tokio::task::JoinSet::new();
    loop {
        next += Duration::from_secs_f64(-mean * (1.0 - random()).ln());
        if next >= end {
            break;
        }
        sleep_until(next).await;
        let (way, url, client) = (way.to_owned(), url.to_owned(), client.clone());
        calls.spawn(async move {
            let outcome = match WAYS.iter().position(|known| *known == way) {
                Some(0) => with_retries(&client, &url).await,
                Some(1) => without_budget(&client, &url).await,
                _ => once(&client, &url).await,
            };
            println!(
                "{} {}",
                (next - begins).as_secs(),
                u8::from(outcome.is_ok())
            );
        });
    }
    // Those that are under way end soon.
    sleep(CLIENT_TIMEOUT * 4).await;
    Ok(())
}

/// From 0 to below 1.
fn random() -> f64 {
    (RandomState::new().hash_one(0) >> 11) as f64 / (1_u64 << 53) as f64
}

fn since_1970() -> Result<Duration, Box<dyn Error>> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?)
}

fn instant(at: Duration) -> Result<Instant, Box<dyn Error>> {
    Ok(Instant::now() + at.saturating_sub(since_1970()?))
}
