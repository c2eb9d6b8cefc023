//! Tasks on a real Restate server. The server is killed as often as the process with the handlers.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that panics has failed"
)]

mod server;
mod work;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reattempt_restate::{Handlers, submit};
use reattempt_supervisor::{Submission, Workflow};
use restate_sdk::http_server::HttpServer;
use restate_sdk::ingress::InvocationHandle;
use restate_sdk::serde::Json;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use server::{Client, Executor, Server, free_port};
use work::order::order;
use work::shop::{Shop, flaky_server};

const PORT: &str = "RETRY_RESTATE_PORT";
const SHOP: &str = "RETRY_RESTATE_SHOP";

/// The process that serves the tasks: this program, run again.
struct Service {
    port: u16,
    shop: String,
    process: Child,
}

impl Service {
    fn start(shop: String) -> Self {
        let port = free_port();
        let process = serve(port, &shop);
        Self {
            port,
            shop,
            process,
        }
    }

    fn crash(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.process = serve(self.port, &self.shop);
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn serve(port: u16, shop: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "service", "--ignored", "--nocapture"])
        .env(PORT, port.to_string())
        .env(SHOP, shop)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "the process that the others start"]
fn service() {
    let Ok(port) = std::env::var(PORT) else {
        return;
    };
    let endpoint = Handlers::new()
        .register(order)
        .register(work::side_by_side)
        .register(work::wait_for_answers)
        .register(work::hopeless)
        .register(work::patient)
        .register(work::slow)
        .delays(work::DELAYS)
        .with(Shop::at(std::env::var(SHOP).unwrap()))
        .endpoint()
        .unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let at = std::net::SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()));
    runtime.block_on(HttpServer::new(endpoint).listen_and_serve(at));
}

/// A server, the process that it calls, and the shop that this calls.
struct Bench {
    server: Server,
    service: Service,
    effects: PathBuf,
    client: Client,
}

impl Bench {
    async fn start(name: &str) -> Option<Self> {
        let server = Server::start().await?;
        let effects = std::env::temp_dir().join(format!("restate-{name}-{}", std::process::id()));
        let shop = flaky_server(effects.clone()).await.unwrap();
        let service = Service::start(shop);
        server.register(service.port).await;
        let client = server.client();
        Some(Self {
            server,
            service,
            effects,
            client,
        })
    }

    async fn submit<W: Workflow>(&self, submission: Submission<W>) -> Handle<W::Output> {
        let sent = submit(&self.client, submission).await.unwrap();
        sent.invocation_handle()
    }

    /// Returns the effects in the shop, in their order.
    fn effects(&self) -> Vec<String> {
        let effects = std::fs::read_to_string(&self.effects).unwrap_or_default();
        let what = |line: &str| line.split_once(' ').unwrap().1.to_owned();
        effects.lines().map(what).collect()
    }

    /// Returns the journal of a task, in its order: the names of the commands and their results.
    async fn journal(&self, invocation: &str) -> Vec<String> {
        let sql = format!(
            "SELECT entry_type, name FROM sys_journal WHERE id = '{invocation}' ORDER BY index"
        );
        let line = |row: Value| {
            let text = |column: &str| row[column].as_str().unwrap_or_default().to_owned();
            format!("{} {}", text("entry_type"), text("name"))
                .trim_end()
                .to_owned()
        };
        self.server
            .query(&sql)
            .await
            .into_iter()
            .map(line)
            .collect()
    }

    async fn signal(&self, workflow: &str, key: &str, payload: &str) {
        let url = format!("{}/{workflow}/{key}/signal", self.server.ingress());
        let body = json!({ "name": "answer", "payload": payload });
        let response = reqwest::Client::new().post(url).json(&body).send().await;
        let response = response.unwrap();
        assert!(
            response.status().is_success(),
            "{:?}",
            response.text().await
        );
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.effects);
    }
}

type Handle<T> = InvocationHandle<Executor, Json<T>>;

/// Waits for the end of a task, also while the server is down.
async fn end<T: DeserializeOwned + Send + 'static>(handle: &Handle<T>) -> Result<T, String> {
    for _ in 0..100 {
        match handle.attach().await {
            Ok(response) => return Ok(response.into_body().0),
            Err(error) => match error.response() {
                Some(response) if response.status().as_u16() < 502 => {
                    return Err(String::from_utf8_lossy(response.body()).into_owned());
                }
                _ => tokio::time::sleep(Duration::from_millis(100)).await,
            },
        }
    }
    panic!("the task does not end");
}

/// Waits until a condition is true, but not for ever.
async fn soon(is_so: impl AsyncFn() -> bool) {
    for _ in 0..3_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it does not come to that within a minute");
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_survive_the_death_of_the_service_and_of_the_server() {
    let Some(mut bench) = Bench::start("orders").await else {
        return;
    };
    let mut orders = Vec::new();
    for nth in 0..6 {
        let new = order(format!("book-{nth}"), 100 + nth).key(format!("order {nth}"));
        orders.push(bench.submit(new).await);
    }
    let mut random = StdRng::seed_from_u64(9);
    for nth in 0..14 {
        let pause = Duration::from_millis(random.random_range(20..400));
        tokio::time::sleep(pause).await;
        if nth % 3 == 2 {
            bench.server.crash().await;
        } else {
            bench.service.crash();
        }
    }
    for (nth, order) in orders.iter().enumerate() {
        let receipt = end(order).await.unwrap();
        assert_eq!(receipt, format!("done: pay-{}", 100 + nth));
        // Each step is recorded once.
        let mut expected = vec!["Command: Input".to_owned()];
        for name in ["begin", "reserve", "pay", "sleep", "ship", "thank"] {
            if name == "sleep" {
                expected.extend(["Command: Sleep", "Notification: Sleep"].map(str::to_owned));
            } else {
                expected.push(format!("Command: Run {name}"));
                expected.push("Notification: Run".to_owned());
            }
        }
        expected.push("Command: Output".to_owned());
        assert_eq!(bench.journal(order.invocation_id()).await, expected);
    }
    let mut effects = bench.effects();
    effects.sort();
    let mut expected = vec!["thank".to_owned(); 6];
    for nth in 0..6 {
        expected.push(format!("pay-{}", 100 + nth));
        expected.push(format!("reserve-book-{nth}"));
        expected.push(format!("ship-book-{nth}"));
    }
    expected.sort();
    assert_eq!(effects, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn restate_runs_every_kind_of_workflow() {
    let Some(mut bench) = Bench::start("others").await else {
        return;
    };
    let both = bench.submit(work::side_by_side(3)).await;
    let asked = bench.submit(work::wait_for_answers(100).key("asked")).await;
    let hopeless = bench.submit(work::hopeless()).await;
    let patient = bench.submit(work::patient()).await;

    bench.signal("wait_for_answers", "asked", "first").await;
    bench.service.crash();
    bench.signal("wait_for_answers", "asked", "second").await;
    let heard = ["first", "second"].map(|text| Some(text.to_owned()));
    assert_eq!(end(&asked).await.unwrap()[..2], heard);
    assert_eq!(end(&asked).await.unwrap()[2], None);

    let done: Vec<_> = (0..3)
        .flat_map(|nth| {
            [
                format!("done: put-left-{nth}"),
                format!("done: put-right-{nth}"),
            ]
        })
        .collect();
    assert_eq!(end(&both).await.unwrap(), done);

    let wrong = reqwest::Client::new()
        .post(format!("{}/order/wrong/run", bench.server.ingress()))
        .json(&json!(1999));
    let refused = wrong.send().await.unwrap();
    assert_eq!(refused.status().as_u16(), 400);
    let said = refused.text().await.unwrap();
    assert!(
        said.contains("do not fit workflow `order`, which takes a JSON array"),
        "{said}"
    );

    let error = end(&hopeless).await.unwrap_err();
    assert!(
        error.contains("the task is compensated") && error.contains("it is busy"),
        "{error}"
    );

    let waits = "Command: Sleep".to_owned();
    soon(async || {
        let journal = bench.journal(patient.invocation_id()).await;
        journal.contains(&waits)
    })
    .await;
    bench.server.cancel(patient.invocation_id()).await;
    let error = end(&patient).await.unwrap_err();
    assert!(error.contains("the task is cancelled"), "{error}");

    // Cancelled while a step runs: that step is undone, and the next does not start.
    let slow = bench.submit(work::slow()).await;
    let put = "put-first".to_owned();
    soon(async || bench.effects().contains(&put)).await;
    bench.server.cancel(slow.invocation_id()).await;
    let error = end(&slow).await.unwrap_err();
    assert!(error.contains("the task is cancelled"), "{error}");
    let of_slow = |it: &String| it.ends_with("-first") || it.ends_with("-second");
    let effects: Vec<_> = bench.effects().into_iter().filter(of_slow).collect();
    assert_eq!(effects, ["put-first", "take-first"]);

    let count = |what: &str| bench.effects().iter().filter(|it| *it == what).count();
    assert_eq!(
        ["put-one", "take-one", "put-two", "take-two"].map(count),
        [2, 2, 1, 1]
    );
}
