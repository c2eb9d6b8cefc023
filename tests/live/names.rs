//! Names that do not match: they are in the status, and a missing policy is a warning.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use reattempt::config::{self, Config, MissingPolicy};
use reattempt::{GiveUpReason, RetryError, retry};
use tracing::dispatcher::DefaultGuard;

use crate::capture::capture;
use crate::support::{File, install, ms, sync_turn, turn};

/// A name that is nearly that of a policy. The code does not look for it before it runs.
#[retry(policy = "naems", name = "names.call", max = 1, on(_))]
fn call() -> Result<(), String> {
    Err("no".to_owned())
}

#[retry(policy = "default", name = "names.listed", max = 1, on(_))]
fn listed() -> Result<(), String> {
    Err("no".to_owned())
}

/// Runs for the first time when something is loaded.
#[retry(policy = "nammes", name = "names.late", max = 1, on(_))]
fn late() -> Result<(), String> {
    Err("no".to_owned())
}

/// The near miss of a name that is missing, or `-`.
fn near(name: &str) -> Option<String> {
    let status = config::status();
    let mut missing = status.missing_policies();
    let found = missing.find(|missing| missing.name() == name)?;
    Some(found.nearest().unwrap_or("-").to_owned())
}

fn unused() -> Vec<String> {
    let status = config::status();
    status.unused_operations().map(str::to_owned).collect()
}

#[test]
fn the_status_has_them() {
    let (_turn, _time) = sync_turn();
    let _ = (call(), listed());
    install("[policies.names]\nmax = 2\n");
    assert_eq!(near("naems"), Some("names".to_owned()));
    // It may stand for nothing, and be there for `[operations]`.
    assert_eq!(near("default"), None);
    install("[policies.other]\nmax = 2\n");
    assert_eq!(near("naems"), Some("-".to_owned()));
    install("[policies.naems]\nmax = 2\n");
    assert_eq!(near("naems"), None);
    // The file gives it another.
    install("[policies.other]\n[operations.\"names.call\"]\npolicy = \"other\"\n");
    assert_eq!(near("naems"), None);
    install("[operations.\"names.call\"]\nmax = 2\n");
    assert_eq!(near("naems"), Some("-".to_owned()));

    install(
        "[operations.\"names.call\"]\nmax = 2\n[operations.\"names.listed\"]\nmax = 2\n[operations.\"names.cal\"]\nmax = 2\n",
    );
    assert_eq!(unused(), ["names.cal"]);
    install("");
    assert!(unused().is_empty());
}

#[test]
fn each_name_is_missing_once() {
    let _turn = turn();
    let _ = (once(), again());
    let status = config::status();
    let names = status.missing_policies().map(MissingPolicy::name);
    let names: Vec<_> = names.collect();
    assert_eq!(names.iter().filter(|name| **name == "twice").count(), 1);
    assert!(names.is_sorted(), "{names:?}");
}

#[retry(policy = "twice", name = "names.once", max = 1, on(_))]
fn once() -> Result<(), String> {
    Err("no".to_owned())
}

#[retry(policy = "twice", name = "names.again", max = 1, on(_))]
fn again() -> Result<(), String> {
    Err("no".to_owned())
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // An observer may ask: no lock is held.
        let _ = config::status();
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn keep(&self) -> DefaultGuard {
        let writer = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .without_time()
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        capture(subscriber)
    }

    /// The warnings about the policy of an operation since the last time.
    fn about(&self, operation: &str) -> Vec<String> {
        self.warnings("no policy", operation)
    }

    /// The warnings that say `what` about an operation, since the last time.
    fn warnings(&self, what: &str, operation: &str) -> Vec<String> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap());
        let text = String::from_utf8(bytes).unwrap();
        let lines = text
            .lines()
            .filter(|line| line.contains("WARN") && line.contains(what));
        let lines = lines.filter(|line| line.contains(operation));
        lines.map(str::to_owned).collect()
    }
}

#[test]
fn a_missing_policy_is_a_warning_once_for_each_load() {
    let (_turn, _time) = sync_turn();
    let _ = call();
    let written = Written::default();
    let _kept = written.keep();
    let file = File::new("[policies.names]\nmax = 2\n");
    config::load(file.path()).unwrap();
    let said =
        "no policy \"naems\" is configured, so the keys in the code hold; did you mean \"names\"?";
    let lines = written.about("names.call");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains(said) && lines[0].contains("reattempt: "),
        "{lines:?}"
    );
    // Neither a call nor a file that says what it said is a load.
    let _ = call();
    config::reload().unwrap();
    assert!(written.about("names.call").is_empty());

    // The first use of another.
    let _ = late();
    let lines = written.about("names.late");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("no policy \"nammes\""), "{lines:?}");
    let _ = late();
    assert!(written.about("names.late").is_empty());

    file.write("[policies.other]\nmax = 2\n");
    config::reload().unwrap();
    let lines = written.about("names.call");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("write `[policies.naems]`"), "{lines:?}");

    // What is refused was not loaded.
    file.write("[policies.other]\nmax = 0\n");
    config::reload().unwrap_err();
    assert!(written.about("names.call").is_empty());
    Config::from_toml("[policies.naems]\nmax = 2\n")
        .unwrap()
        .install()
        .unwrap();
    assert!(written.about("names.call").is_empty());
}

/// Nothing may end its call.
#[retry(
    policy = "ignored",
    name = "names.uncut",
    max = 1,
    cut_off = false,
    on(_)
)]
async fn uncut() -> Result<(), String> {
    tokio::time::sleep(ms(40)).await;
    Ok(())
}

/// Nothing can interrupt its thread.
#[retry(policy = "ignored", name = "names.blocking", max = 1, on(_))]
fn blocking() -> Result<(), String> {
    Ok(())
}

#[retry(policy = "ignored", name = "names.cut", max = 1, map_err = |error: RetryError<io::Error>| error.reason())]
async fn cut() -> Result<(), GiveUpReason> {
    tokio::time::sleep(ms(40)).await;
    Ok(())
}

/// A `timeout` that an operator sets in the middle of an outage holds, or the status names who ignores it.
#[tokio::test(start_paused = true)]
async fn a_timeout_that_is_ignored_is_in_the_status() {
    let _turn = turn();
    let ignored = || config::status().ignored_timeouts().collect::<Vec<_>>();
    assert_eq!(uncut().await, Ok(()));
    assert_eq!(blocking(), Ok(()));
    assert_eq!(cut().await, Ok(()));
    assert!(ignored().is_empty());
    install("[policies.ignored]\ntimeout = \"10ms\"\n");
    assert_eq!(ignored(), ["names.blocking", "names.uncut"]);
    assert_eq!(uncut().await, Ok(()));
    assert_eq!(blocking(), Ok(()));
    assert_eq!(cut().await, Err(GiveUpReason::Attempts));
    install("[policies.ignored]\nmax = 2\n");
    assert!(ignored().is_empty());
}

/// Nothing has run when the first file is loaded; one that an operator changes later is to do something.
#[test]
fn an_operation_that_nothing_runs_as_is_a_warning_once() {
    let (_turn, _time) = sync_turn();
    let _ = (call(), listed());
    install("");
    let written = Written::default();
    let _kept = written.keep();
    let file = File::new("[operations.\"names.clal\"]\nmax = 2\n");
    config::load(file.path()).unwrap();
    let lines = written.warnings("no operation", "names.clal");
    assert_eq!(lines.len(), 1, "{lines:?}");
    let said =
        "no operation \"names.clal\" has asked for its policy yet; did you mean \"names.call\"?";
    assert!(lines[0].contains(said), "{lines:?}");

    // Once, also of a file that says something new.
    file.write("[operations.\"names.clal\"]\nmax = 3\n[operations.\"unlike.any\"]\nmax = 2\n");
    config::reload().unwrap();
    let lines = written.warnings("no operation", "");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("\"unlike.any\"") && lines[0].contains("`policy = \"default\"`"),
        "{lines:?}"
    );
    install("");
}

/// An operator who sets it has to hear that it does nothing.
#[test]
fn a_timeout_that_nothing_keeps_is_a_warning_once() {
    let (_turn, _time) = sync_turn();
    install("");
    assert_eq!(lone(), Ok(()));
    let written = Written::default();
    let _kept = written.keep();
    for max in [2, 3] {
        install(&format!(
            "[policies.lone]\ntimeout = \"10ms\"\nmax = {max}\n"
        ));
        let lines = written.warnings("`timeout`", "names.lone");
        assert_eq!(lines.len(), usize::from(max == 2), "{lines:?}");
    }
    // And where an operation runs for the first time under such a policy.
    install("[policies.first]\ntimeout = \"10ms\"\n");
    assert_eq!(first(), Ok(()));
    let lines = written.warnings("`timeout`", "names.first");
    assert_eq!(lines.len(), 1, "{lines:?}");
    install("");
}

#[retry(policy = "lone", name = "names.lone", max = 1, on(_))]
fn lone() -> Result<(), String> {
    Ok(())
}

#[retry(policy = "first", name = "names.first", max = 1, on(_))]
fn first() -> Result<(), String> {
    Ok(())
}
