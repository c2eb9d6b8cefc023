//! What `cargo retry check` asks about code and files.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{command, ended, folder};

/// A project with this code, and the dependencies that the code names.
fn project(name: &str, code: &str) -> PathBuf {
    let folder = folder(&format!("questions_{name}"));
    let manifest = "[package]\nname = \"shop\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nreattempt = \"*\"\nreqwest = \"*\"\nureq = \"*\"\n";
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(folder.join("src/lib.rs"), code).unwrap();
    folder
}

fn check(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let arguments = [&["check"], arguments].concat();
    let (code, out, err) = ended(&command(&arguments).current_dir(folder).output().unwrap());
    assert!(err.is_empty(), "{err}");
    (code, out)
}

/// The questions about each operation: `pay: no_limit`.
fn asked(folder: &Path) -> Vec<String> {
    let (code, out) = check(folder, &["--json"]);
    assert_eq!(code, 0, "{out}");
    let all: Value = serde_json::from_str(&out).unwrap();
    let files = all.as_array().unwrap().iter();
    let questions = files.flat_map(|file| file["questions"].as_array().unwrap());
    let of = |it: &Value| {
        it["of"]
            .as_str()
            .unwrap()
            .rsplit("::")
            .next()
            .unwrap()
            .to_owned()
    };
    questions
        .map(|it| format!("{}: {}", of(it), it["question"].as_str().unwrap()))
        .collect()
}

#[test]
fn what_never_ends_is_asked_about_where_the_answer_could_tell() {
    let folder = project(
        "limit",
        r#"
use reattempt::{GaveUp, RetryError, retry};
use std::io;
pub enum Can { Late }
impl From<GaveUp> for Can { fn from(_: GaveUp) -> Self { Self::Late } }
#[retry(on(_))]
pub async fn tells() -> Result<(), RetryError<io::Error>> { Ok(()) }
#[retry(on(_))]
pub async fn own_error_tells() -> Result<(), Can> { Ok(()) }
#[derive(Debug, reattempt::Classify)]
pub enum Derived { #[retry(from)] Http(Request) }
#[retry]
pub async fn derived_error_tells() -> Result<(), Derived> { Ok(()) }
#[retry(on(_))]
pub fn blocks() -> io::Result<()> { Ok(()) }
#[retry(on(_), timeout = "1s", max = "unlimited")]
pub async fn limited_once() -> Result<(), Can> { Ok(()) }
#[retry(on(_))]
pub async fn cannot() -> io::Result<()> { Ok(()) }
#[retry(on(_), deadline = "1s")]
pub async fn ends() -> Result<(), Can> { Ok(()) }
#[retry(on(_), timeout = "1s")]
pub async fn each_ends() -> Result<(), Can> { Ok(()) }
#[retry(on(_), max = "unlimited", reset_after = "1m")]
pub async fn session() -> Result<(), Can> { Ok(()) }
#[retry(on(_), deadline = SHORT)]
pub async fn by_constant() -> Result<(), Can> { Ok(()) }
const SHORT: std::time::Duration = std::time::Duration::from_secs(1);
#[cfg(test)]
mod tests {
    #[reattempt::retry(on(_))]
    fn of_a_test() -> std::io::Result<()> { Ok(()) }
}
"#,
    );
    assert_eq!(
        asked(&folder),
        [
            "tells: no_limit",
            "own_error_tells: no_limit",
            "derived_error_tells: no_limit",
            "blocks: no_limit",
            "limited_once: no_limit"
        ]
    );
}

#[test]
fn a_client_without_a_time_out_is_asked_about() {
    let code = r#"
use reattempt::retry;
use reqwest::Client;
pub struct Shop { client: Client }
impl Shop {
    #[retry]
    pub async fn of_a_field(&self) -> reqwest::Result<()> { self.client.get("").send().await.map(drop) }
}
#[retry]
pub async fn of_a_parameter(client: &reqwest::Client) -> reqwest::Result<()> { client.get("").send().await.map(drop) }
#[retry(deadline = "1m")]
pub fn blocks() -> Result<(), ureq::Error> { ureq::get("").call().map(drop) }
#[retry(timeout = "1s")]
pub async fn limited(client: &Client) -> Result<(), E> { client.get("").send().await.map(drop)?; Ok(()) }
#[retry]
pub async fn calls_nobody() -> Result<(), E> { Ok(()) }
"#;
    let all = [
        "of_a_field: no_timeout",
        "of_a_parameter: no_timeout",
        "blocks: no_timeout",
    ];
    assert_eq!(asked(&project("timeout", code)), all);
    let set = format!(
        "{code}pub fn client() -> Client {{ Client::builder().timeout(SHORT).build().unwrap() }}\n"
    );
    assert!(asked(&project("timeout_set", &set)).is_empty());
    let own = format!(
        "{}pub struct Client;\n",
        code.replace("use reqwest::Client;", "")
    );
    assert_eq!(asked(&project("timeout_own", &own)), ["blocks: no_timeout"]);
}

#[test]
fn delays_in_step_are_asked_about() {
    let folder = project(
        "jitter",
        r#"
use reattempt::retry;
#[retry(backoff = "fixed", jitter = "none", max = 10)]
pub async fn in_step() -> std::io::Result<()> { Ok(()) }
#[retry(backoff = "fixed", jitter = "none", fast_first, max = 10)]
pub async fn in_step_after_the_first() -> std::io::Result<()> { Ok(()) }
#[retry(jitter = "none", max = 10)]
pub async fn grows() -> std::io::Result<()> { Ok(()) }
#[retry(backoff = "fixed", max = 10)]
pub async fn spread() -> std::io::Result<()> { Ok(()) }
#[retry(backoff = "none", max = 3)]
pub async fn at_once() -> std::io::Result<()> { Ok(()) }
#[retry(backoff = "fixed", jitter = "none", until = |it: &u32| *it == 1)]
pub async fn polls() -> std::io::Result<u32> { Ok(1) }
"#,
    );
    assert_eq!(
        asked(&folder),
        ["in_step: no_jitter", "in_step_after_the_first: no_jitter"]
    );
}

#[test]
fn budgets_that_bound_nothing_are_asked_about() {
    let folder = project(
        "budget",
        r#"
use reattempt::{Budget, Policy, retry};
static ALONE: Budget = Budget::refunding(4);
static SHARED: Budget = Budget::refunding(4);
const FREE: Policy = Policy::new().deadline(std::time::Duration::from_secs(3));
const BOUND: Policy = Policy::new().deadline(std::time::Duration::from_secs(3)).budget(&SHARED);
#[retry(budget = "none")]
pub async fn unbounded() -> std::io::Result<()> { Ok(()) }
#[retry(budget = &ALONE)]
pub async fn alone() -> std::io::Result<()> { Ok(()) }
#[retry(budget = &SHARED)]
pub async fn one() -> std::io::Result<()> { Ok(()) }
#[retry(budget = crate::SHARED)]
pub async fn other() -> std::io::Result<()> { Ok(()) }
#[retry(budget = 0.1)]
pub async fn own() -> std::io::Result<()> { Ok(()) }
pub fn runs() -> bool { FREE.run(|| std::io::Result::Ok(())).is_ok() }
pub fn runs_bound() -> bool { BOUND.run(|| std::io::Result::Ok(())).is_ok() }
"#,
    );
    let all = asked(&folder);
    assert_eq!(all.len(), 3, "{all:?}");
    assert_eq!(all[..2], ["unbounded: no_budget", "alone: lone_budget"]);
    assert!(all[2].ends_with(": no_budget"), "{all:?}");
}

#[test]
fn a_comment_with_a_reason_answers_and_deny_decides() {
    let code = "use reattempt::retry;
// retry: no_jitter: one client in all the world
#[retry(backoff = \"fixed\", jitter = \"none\")]
pub async fn answered() -> std::io::Result<()> { Ok(()) }
// retry: no_jitter
#[retry(backoff = \"fixed\", jitter = \"none\")]
pub async fn bare() -> std::io::Result<()> { Ok(()) }
";
    let folder = project("answers", code);
    assert_eq!(asked(&folder), ["bare: no_jitter"]);
    let (code, out) = check(&folder, &[]);
    assert_eq!(code, 0);
    assert!(
        out.contains("src/lib.rs:6:3: shop::bare: each client waits exactly 100 ms"),
        "{out}"
    );
    assert!(
        out.contains("each client waits exactly 100 ms; its comment gives no reason: `retry: no_jitter: reason` [no_jitter]"),
        "{out}"
    );
    assert!(
        out.contains("\nno_jitter: clients that fail together come back together; "),
        "{out}"
    );
    assert!(
        out.contains("the code: 2 places that retry, 1 question\n"),
        "{out}"
    );
    assert_eq!(check(&folder, &["--deny", "no_limit,no_budget"]).0, 0);
    assert_eq!(check(&folder, &["--deny", "no_limit,no_jitter"]).0, 1);
    assert_eq!(check(&folder, &["--deny", "all"]).0, 1);
}

#[test]
fn a_policy_of_a_file_is_asked_about_there() {
    let code = "#[reattempt::retry(policy = \"slow\")]\npub async fn f() -> std::io::Result<()> { Ok(()) }\n";
    let folder = project("file", code);
    let file =
        "[policies.fine]\nmax = 4\n[policies.slow]\nbackoff = \"fixed\"\njitter = \"none\"\n";
    std::fs::write(folder.join("retry.toml"), file).unwrap();
    assert_eq!(asked(&folder), ["policies.slow: no_jitter"]);
    let (_, out) = check(&folder, &["retry.toml"]);
    assert!(out.contains("retry.toml:3: policies.slow: "), "{out}");
    let answered = file.replace(
        "[policies.slow]",
        "# retry: no_jitter: polls one machine\n[policies.slow]",
    );
    std::fs::write(folder.join("retry.toml"), answered).unwrap();
    assert!(asked(&folder).is_empty());
}

/// A table of the file holds for code that asks for a policy by name.
#[test]
fn an_operation_of_the_file_that_has_no_effect_is_asked_about() {
    let folder = project(
        "no_effect",
        r#"
use reattempt::{Policy, retry};
use std::io;
#[retry(on(_), name = "orders.list", deadline = "9s")]
pub fn list() -> io::Result<()> { Ok(()) }
#[retry(on(_), name = "orders.get", policy = "storage", deadline = "9s")]
pub fn get() -> io::Result<()> { Ok(()) }
#[retry(on(_), name = "orders.put", deadline = "9s")]
pub fn put() -> io::Result<()> { Ok(()) }
"#,
    );
    let file = "[policies.storage]\nmax = 5\n[operations.\"orders.list\"]\nmax = 2\n[operations.\"orders.get\"]\nmax = 2\n";
    std::fs::write(folder.join("retry.toml"), file).unwrap();
    assert_eq!(asked(&folder), ["orders.list: no_effect"]);
    let (code, out) = check(&folder, &["--deny", "no_effect"]);
    assert_eq!(code, 1, "{out}");
    assert!(
        out.contains("`[operations.\"orders.list\"]` of the file has no effect here")
            && out.contains("write `policy = \"default\"`"),
        "{out}"
    );
}
