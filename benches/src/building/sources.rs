//! The programs that are compiled: the same small function many times over, in every way. Each is called
//! through a pointer, so that the compiler makes all of them and none disappears in another.

use std::fmt::Write as _;

const TOKIO: &str = r#"tokio = { version = "1", features = ["rt", "time"] }"#;

/// The first is what the others are compared with.
pub(super) const WAYS: &[Way] = &[
    PLAIN,
    Way {
        title: "loop by hand",
        shared: DELAY,
        body: LOOP,
        ..PLAIN
    },
    Way {
        title: "#[retry]",
        library: r#"reattempt = { path = "ROOT" }"#,
        attribute: "#[reattempt::retry(max = 5, on = is_transient)]",
        ..PLAIN
    },
    Way {
        title: "#[backon]",
        library: r#"
backon = { version = "1", default-features = false, features = ["std", "tokio-sleep"] }
backon-macros = "1""#,
        attribute: "#[backon_macros::backon(sleep = tokio::time::sleep, when = is_transient)]",
        ..PLAIN
    },
    Way {
        title: "#[retry] of retry-if",
        // What it expands to names `tracing`, whatever its features.
        library: r#"
retry-if = { version = "0.3", default-features = false }
tracing = "0.1""#,
        shared: POLICY,
        attribute: "#[retry_if::retry(POLICY, is_busy)]",
        ..PLAIN
    },
    Way {
        title: "#[tracing::instrument]",
        library: r#"tracing = "0.1""#,
        attribute: "#[tracing::instrument]",
        ..PLAIN
    },
    Way {
        title: "#[async_trait]",
        library: r#"async-trait = "0.1""#,
        is_method: true,
        ..PLAIN
    },
];

const PLAIN: Way = Way {
    title: "plain",
    library: "",
    shared: "",
    attribute: "",
    body: "let page = client.get(id + NUMBER).await?; client.put(page).await",
    is_method: false,
};

/// What all programs have.
const COMMON: &str = r#"
use std::future::Future;
use std::pin::Pin;

#[derive(Debug, PartialEq)]
pub enum Fault {
    Busy,
    Broken,
}

#[allow(dead_code)]
fn is_transient(fault: &Fault) -> bool {
    *fault == Fault::Busy
}

#[derive(Debug)]
pub struct Client(u64);

impl Client {
    pub async fn get(&self, id: u64) -> Result<u64, Fault> {
        tokio::task::yield_now().await;
        if id == self.0 { Err(Fault::Busy) } else { Ok(id) }
    }

    pub async fn put(&self, id: u64) -> Result<u64, Fault> {
        tokio::task::yield_now().await;
        if id == self.0 { Err(Fault::Broken) } else { Ok(id) }
    }
}

type Answer = Result<u64, Fault>;
type Call = for<'a> fn(&'a Client, u64) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

fn main() {
    let number = std::env::args().count();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    if let Some(call) = CALLS.get(number) {
        println!("{:?}", runtime.block_on(call(&Client(7), 7)));
    }
}
"#;

const DELAY: &str = "
fn delay(retry: u32) -> std::time::Duration {
    std::time::Duration::from_millis(100).saturating_mul(2_u32.saturating_pow(retry))
}
";

const LOOP: &str = "
    let mut retries = 0;
    loop {
        let outcome = async { let page = client.get(id + NUMBER).await?; client.put(page).await };
        match outcome.await {
            Err(error) if retries < 4 && is_transient(&error) => {}
            outcome => return outcome,
        }
        tokio::time::sleep(delay(retries)).await;
        retries += 1;
    }
";

const POLICY: &str = "
const POLICY: retry_if::ExponentialBackoffConfig = retry_if::ExponentialBackoffConfig {
    max_retries: 4,
    t_wait: std::time::Duration::from_millis(100),
    backoff: 2.0,
    t_wait_max: None,
    backoff_max: None,
};

fn is_busy(answer: &Answer) -> bool {
    answer.as_ref().is_err_and(is_transient)
}
";

pub(super) struct Way {
    pub(super) title: &'static str,
    library: &'static str,
    /// What the functions share.
    shared: &'static str,
    attribute: &'static str,
    body: &'static str,
    /// Methods of a trait under `#[async_trait]`.
    is_method: bool,
}

impl Way {
    pub(super) fn dependencies(&self) -> String {
        format!("{TOKIO}\n{}", self.library)
    }

    /// A program with so many functions.
    pub(super) fn program(&self, functions: u32) -> String {
        let (mut declared, mut written) = (String::new(), String::new());
        let mut calls = String::new();
        for number in 0..functions {
            let body = self.body.replace("NUMBER", &number.to_string());
            if self.is_method {
                let signature = format!("async fn call_{number}(&self, id: u64) -> Answer");
                let _ = writeln!(declared, "{signature};");
                let _ = writeln!(written, "{signature} {{ let client = self; {body} }}");
                let _ = writeln!(calls, "|client, id| client.call_{number}(id),");
            } else {
                let parameters = "client: &Client, id: u64";
                let signature = format!("async fn call_{number}({parameters}) -> Answer");
                let _ = writeln!(written, "{}\n{signature} {{ {body} }}", self.attribute);
                let _ = writeln!(calls, "|client, id| Box::pin(call_{number}(client, id)),");
            }
        }
        if self.is_method {
            let attribute = "#[async_trait::async_trait]";
            declared = format!("{attribute}\ntrait Calls {{ {declared} }}\n");
            written = format!("{declared}{attribute}\nimpl Calls for Client {{ {written} }}\n");
        }
        let shared = self.shared;
        format!("{COMMON}{shared}{written}\nstatic CALLS: [Call; {functions}] = [{calls}];\n")
    }
}
