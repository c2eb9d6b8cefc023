//! A Restate server for one test, with its own folder, on loopback and without telemetry.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use restate_sdk::ingress::RequestExecutor;
use serde_json::{Value, json};

#[path = "../../../../examples/servers/mod.rs"]
mod servers;

pub(crate) use servers::free_port;

/// The default folder of its npm package.
const PROGRAM: &str =
    "../../target/restate/node_modules/@restatedev/restate-server-linux-x64/bin/restate-server";

/// Restate's own client with a `reqwest` that needs no TLS.
pub(crate) type Client = restate_sdk::ingress::Client<Executor>;

#[derive(Clone)]
pub(crate) struct Executor(reqwest::Client);

impl RequestExecutor for Executor {
    type Error = reqwest::Error;

    async fn execute(&self, request: Request<Bytes>) -> Result<Response<Bytes>, reqwest::Error> {
        let mut response = self.0.execute(request.try_into()?).await?;
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let mut whole = Response::new(response.bytes().await?);
        *whole.status_mut() = status;
        *whole.headers_mut() = headers;
        Ok(whole)
    }
}

pub(crate) struct Server {
    program: PathBuf,
    folder: PathBuf,
    ports: [u16; 3],
    process: Child,
    client: reqwest::Client,
}

impl Server {
    /// Returns `None` if it is not installed.
    pub(crate) async fn start() -> Option<Self> {
        let program = program()?;
        let folder = servers::folder("restate");
        let ports = [free_port(), free_port(), free_port()];
        let server = Self {
            process: start_process(&program, &folder, ports),
            program,
            folder,
            ports,
            client: reqwest::Client::new(),
        };
        server.is_up().await;
        Some(server)
    }

    pub(crate) fn ingress(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    pub(crate) fn client(&self) -> Client {
        let executor = Executor(self.client.clone());
        Client::new(self.ingress().parse().unwrap(), executor).unwrap()
    }

    fn admin(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.ports[1])
    }

    /// Kills the server, and starts it again with the same files.
    pub(crate) async fn crash(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.process = start_process(&self.program, &self.folder, self.ports);
        self.is_up().await;
    }

    async fn is_up(&self) {
        for _ in 0..1_200 {
            let [admin, ingress] = [
                self.admin("/health"),
                format!("{}/restate/health", self.ingress()),
            ]
            .map(|url| self.client.get(url).send());
            let (admin, ingress) = tokio::join!(admin, ingress);
            if admin.is_ok_and(|it| it.status().is_success())
                && ingress.is_ok_and(|it| it.status().is_success())
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("Restate did not come up within 60 s");
    }

    /// Registers the services with it.
    pub(crate) async fn register(&self, port: u16) {
        let deployment = json!({ "uri": format!("http://127.0.0.1:{port}"), "force": true });
        for _ in 0..200 {
            let request = self
                .client
                .post(self.admin("/deployments"))
                .json(&deployment);
            match request.send().await {
                Ok(response) if response.status().is_success() => return,
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        panic!("Restate did not find the services within 10 s");
    }

    pub(crate) async fn cancel(&self, invocation: &str) {
        let url = self.admin(&format!("/invocations/{invocation}/cancel"));
        let cancelled = self.client.patch(url).send().await.unwrap();
        assert!(cancelled.status().is_success(), "{cancelled:?}");
    }

    pub(crate) async fn query(&self, sql: &str) -> Vec<Value> {
        let request = self.client.post(self.admin("/query"));
        let request = request.header("accept", "application/json");
        let answer = request.json(&json!({ "query": sql })).send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{text}");
        let mut answer: Value = serde_json::from_str(&text).unwrap();
        match answer["rows"].take() {
            Value::Array(rows) => rows,
            other => panic!("{other}"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn program() -> Option<PathBuf> {
    let named = env::var_os("RESTATE_SERVER").map(PathBuf::from);
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join(PROGRAM);
    let program = named.unwrap_or(usual);
    if program.is_file() {
        return Some(program);
    }
    let hint = "Restate is not installed; `npm install --ignore-scripts --prefix target/restate @restatedev/restate-server`, or name its program in `RESTATE_SERVER`";
    servers::left_out(hint, "REATTEMPT_SERVERS");
    None
}

fn start_process(program: &Path, folder: &Path, [ingress, admin, node]: [u16; 3]) -> Child {
    let at = |port: u16| format!("127.0.0.1:{port}");
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    Command::new(program)
        .args(["--no-logo", "--listen-mode", "tcp", "--node-name", "test"])
        .env("RESTATE_BASE_DIR", folder)
        .env("RESTATE_DISABLE_TELEMETRY", "true")
        .env("DO_NOT_TRACK", "1")
        .env("RESTATE_BIND_ADDRESS", at(node))
        .env("RESTATE_ADVERTISED_ADDRESS", url(node))
        .env("RESTATE_INGRESS__BIND_ADDRESS", at(ingress))
        .env("RESTATE_INGRESS__ADVERTISED_ADDRESS", url(ingress))
        .env("RESTATE_ADMIN__BIND_ADDRESS", at(admin))
        .env("RESTATE_ADMIN__ADVERTISED_ADDRESS", url(admin))
        .env("RESTATE_DEFAULT_NUM_PARTITIONS", "2")
        .env("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "128MiB")
        .env("RESTATE_DEFAULT_RETRY_POLICY__INITIAL_INTERVAL", "20ms")
        .env("RESTATE_DEFAULT_RETRY_POLICY__MAX_INTERVAL", "200ms")
        .env("RESTATE_DEFAULT_RETRY_POLICY__MAX_ATTEMPTS", "unlimited")
        .env("RESTATE_WORKER__INVOKER__INACTIVITY_TIMEOUT", "200ms")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
