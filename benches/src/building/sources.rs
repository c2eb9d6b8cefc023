//! The programs that are compiled: the same small function many times over, in every way. `main`
//! calls all of them, which is how a program has them: what is inlined there counts.

use std::fmt::Write as _;

const TOKIO: &str = r#"tokio = { version = "1", features = ["rt", "time"] }"#;

/// The names are those of the other tables.
pub(super) const WAYS: &[Way] = &[
    PLAIN,
    Way {
        name: "hand",
        title: "loop by hand",
        shared: DELAY,
        body: LOOP,
        ..PLAIN
    },
    OURS,
    Way {
        name: "ours, alias",
        title: "#[retry], alias",
        answer: "Answer",
        ..OURS
    },
    Way {
        name: "backon-macros",
        title: "#[backon]",
        library: r#"
backon = { version = "1", default-features = false, features = ["std", "tokio-sleep"] }
backon-macros = "1""#,
        attribute: "#[backon_macros::backon(sleep = tokio::time::sleep)]",
        ..PLAIN
    },
    Way {
        name: "retry-if",
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
        name: "instrument",
        title: "#[tracing::instrument]",
        library: r#"tracing = "0.1""#,
        attribute: "#[tracing::instrument(skip_all)]",
        ..PLAIN
    },
    Way {
        name: "async-trait",
        title: "#[async_trait]",
        library: r#"async-trait = "0.1""#,
        is_method: true,
        ..PLAIN
    },
];

const PLAIN: Way = Way {
    name: "bare",
    title: "plain",
    library: "",
    shared: "",
    attribute: "",
    answer: "std::io::Result<u64>",
    body: "let page = client.get(id + NUMBER).await?; Ok(page ^ NUMBER)",
    is_method: false,
};

const OURS: Way = Way {
    name: "ours",
    title: "#[retry]",
    library: r#"reattempt = { path = "ROOT" }"#,
    attribute: "#[reattempt::retry(max = 5, on(_), budget = \"none\")]",
    ..PLAIN
};

/// What all programs have.
const COMMON: &str = r"
#[derive(Debug)]
pub struct Client(u64);

impl Client {
    pub async fn get(&self, id: u64) -> std::io::Result<u64> {
        tokio::task::yield_now().await;
        if id == self.0 { Err(std::io::ErrorKind::ResourceBusy.into()) } else { Ok(id) }
    }
}

#[allow(dead_code)]
type Answer = std::io::Result<u64>;
";

const DELAY: &str = "
fn delay(retry: u32) -> std::time::Duration {
    std::time::Duration::from_millis(100).saturating_mul(2_u32.saturating_pow(retry))
}
";

const LOOP: &str = "
    let mut retries = 0;
    loop {
        let outcome = async { let page = client.get(id + NUMBER).await?; Ok(page ^ NUMBER) };
        match outcome.await {
            Err(_) if retries < 4 => {}
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
    answer.is_err()
}
";

pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    library: &'static str,
    /// What the functions share.
    shared: &'static str,
    attribute: &'static str,
    /// How the return type is spelled.
    answer: &'static str,
    body: &'static str,
    /// Methods of a trait under `#[async_trait]`.
    is_method: bool,
}

impl Way {
    pub(super) fn dependencies(&self) -> String {
        format!("{TOKIO}\n{}", self.library)
    }

    /// A program with so many functions, which `main` calls one after the other.
    pub(super) fn program(&self, functions: u32) -> String {
        let (mut declared, mut written) = (String::new(), String::new());
        let mut calls = String::new();
        let answer = self.answer;
        for number in 0..functions {
            let body = self.body.replace("NUMBER", &number.to_string());
            if self.is_method {
                let signature = format!("async fn call_{number}(&self, id: u64) -> {answer}");
                let _ = writeln!(declared, "{signature};");
                let _ = writeln!(written, "{signature} {{ let client = self; {body} }}");
                let _ = writeln!(calls, "sum ^= client.call_{number}(sum).await?;");
            } else {
                let parameters = "client: &Client, id: u64";
                let signature = format!("async fn call_{number}({parameters}) -> {answer}");
                let _ = writeln!(written, "{}\n{signature} {{ {body} }}", self.attribute);
                let _ = writeln!(calls, "sum ^= call_{number}(&client, sum).await?;");
            }
        }
        if self.is_method {
            let attribute = "#[async_trait::async_trait]";
            declared = format!("{attribute}\ntrait Calls {{ {declared} }}\n");
            written = format!("{declared}{attribute}\nimpl Calls for Client {{ {written} }}\n");
        }
        let shared = self.shared;
        format!(
            "{COMMON}{shared}{written}
fn main() -> std::io::Result<()> {{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(async {{
        let client = Client(7);
        let mut sum = std::env::args().count() as u64;
        {calls}
        println!(\"{{sum}}\");
        Ok(())
    }})
}}
"
        )
    }
}
