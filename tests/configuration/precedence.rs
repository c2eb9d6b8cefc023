//! What holds over what: the defaults, the code, the policy of the file, the operation of the file.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reattempt::config::Config;
use reattempt::tower::RetryLayer;
use reattempt::{Jitter, Policy, Telemetry, observe::Level};
use tower::{Layer as _, ServiceExt as _, service_fn};

const FILE: &str = r#"
default = "standard"

[policies.standard]
max = 5
base = "100ms"

[policies.storage]
backoff = "fixed"
base = "250ms"
jitter = "none"
deadline = "10s"
budget = 0.1

[operations."payments.charge"]
policy = "storage"
max = 2

[operations.refund]
enabled = false

[operations.list]
base = "1s"
"#;

fn config() -> Config {
    Config::from_toml(FILE).unwrap()
}

const INLINE: Policy = Policy::new()
    .max(9)
    .base(Duration::from_secs(3))
    .cap(Duration::from_secs(7))
    .jitter(Jitter::None);

#[test]
fn the_file_over_the_code_over_the_defaults() {
    let config = config();
    let resolved = config.resolve("other", "standard", &INLINE);
    assert_eq!((resolved.label, resolved.enabled), ("standard", true));
    assert_eq!(resolved.policy.attempts(), Some(5)); // of the file
    assert_eq!(resolved.policy.delay(0), Duration::from_millis(100));
    assert_eq!(resolved.policy.delay(9), Duration::from_secs(7)); // of the code
    assert_eq!(resolved.policy.delay(1), Duration::from_millis(200)); // by default
}

/// Layers and `Policy::run` ask for it by the name that an attribute writes.
#[test]
fn the_default_has_its_name_everywhere() {
    let config = config();
    let most = |config: &Config| config.policy("default").map(|it| it.attempts());
    assert_eq!(most(&config), Some(Some(5)));
    let resolved = config.resolve("other", "default", &Policy::new());
    assert_eq!(
        (resolved.label, resolved.policy.attempts()),
        ("standard", Some(5))
    );
    let own = Config::from_toml(&format!("{FILE}\n[policies.default]\nmax = 7\n")).unwrap();
    assert_eq!(most(&own), Some(Some(7)));
    let none = Config::from_toml("[policies.standard]\nmax = 5\n").unwrap();
    assert_eq!(most(&none), None);
}

#[test]
fn the_operation_over_the_policy() {
    let config = config();
    let resolved = config.resolve("payments.charge", "standard", &INLINE);
    assert_eq!(resolved.label, "storage"); // and not the one that the code names
    assert_eq!(resolved.policy.attempts(), Some(2));
    assert_eq!(resolved.policy.delay(1), Duration::from_millis(250));
    assert!(resolved.policy.is_budgeted());
}

#[test]
fn an_operation_that_overrides_the_policy_of_the_code() {
    let config = config();
    let resolved = config.resolve("list", "standard", &INLINE);
    assert_eq!(
        (resolved.label, resolved.policy.attempts()),
        ("standard", Some(5))
    );
    // Without a `first` it is the first delay, too.
    assert_eq!(resolved.policy.delay(0), Duration::from_secs(1));
}

#[test]
fn names_that_the_file_does_not_have() {
    let config = config();
    let resolved = config.resolve("other", "missing", &INLINE);
    assert_eq!(
        (resolved.label, resolved.policy.attempts()),
        ("missing", Some(9))
    );
    let resolved = config.resolve("other", "default", &INLINE);
    assert_eq!(
        (resolved.label, resolved.policy.attempts()),
        ("standard", Some(5))
    );
    let empty = Config::empty();
    let resolved = empty.resolve("other", "default", &INLINE);
    assert_eq!(
        (resolved.label, resolved.policy.attempts()),
        ("default", Some(9))
    );
    assert!(resolved.enabled);
}

#[test]
fn a_policy_of_the_name_default() {
    let config =
        Config::from_toml("default = \"a\"\n[policies.a]\nmax = 4\n[policies.default]\nmax = 6\n")
            .unwrap();
    let resolved = config.resolve("other", "default", &INLINE);
    assert_eq!(
        (resolved.label, resolved.policy.attempts()),
        ("default", Some(6))
    );
}

#[test]
fn off() {
    let config = config();
    assert!(config.is_enabled());
    assert!(!config.resolve("refund", "standard", &INLINE).enabled);
    assert!(config.resolve("list", "standard", &INLINE).enabled);
    let off = Config::from_toml(&format!("enabled = false\n{FILE}")).unwrap();
    assert!(!off.is_enabled());
    assert!(!off.resolve("list", "standard", &INLINE).enabled);
}

#[test]
fn what_is_there() {
    let config = config();
    assert_eq!(config.default(), Some("standard"));
    let policies: Vec<_> = config
        .policies()
        .map(|(name, policy)| (name, policy.attempts()))
        .collect();
    assert_eq!(policies, [("standard", Some(5)), ("storage", Some(3))]);
    assert_eq!(
        config.operations().collect::<Vec<_>>(),
        ["list", "payments.charge", "refund"]
    );
    assert_eq!(
        config.policy("storage").unwrap().delay(3),
        Duration::from_millis(250)
    );
    assert!(config.policy("missing").is_none());
}

/// In whatever order they stand: the first retry is one of all.
#[test]
fn what_is_reported() {
    let with_telemetry = |value: &str| {
        let config = Config::from_toml(&format!("[policies.a]\ntelemetry = {value}\n")).unwrap();
        format!("{:?}", config.policy("a").unwrap())
    };
    for (value, telemetry) in [
        ("\"default\"", Telemetry::new()),
        ("\"quiet\"", Telemetry::quiet()),
        ("\"timings\"", Telemetry::new().timings()),
        ("\"spans\"", Telemetry::new().spans()),
        (
            "{ first_retry = \"warn\", retry = \"off\", timings = true, spans = false }",
            Telemetry::new()
                .retry(Level::Off)
                .first_retry(Level::Warn)
                .timings(),
        ),
        (
            "{ give_up = \"error\", recovery = \"trace\", give_up_interval = \"0s\" }",
            Telemetry::new()
                .give_up(Level::Error)
                .recovery(Level::Trace)
                .give_up_interval(Duration::ZERO),
        ),
    ] {
        assert_eq!(
            with_telemetry(value),
            format!("{:?}", Policy::new().telemetry(telemetry)),
            "{value}"
        );
    }
}

/// Whether an operation may run twice is a property of its code; a file can only forbid it.
#[test]
fn what_must_not_run_twice_does_not_by_any_file() {
    let text =
        "[policies.standard]\nidempotent = true\nmax = 7\n[operations.charge]\nidempotent = true\n";
    let config = Config::from_toml(text).unwrap();
    let strict = Policy::new().idempotent(false);
    for operation in ["charge", "other"] {
        let resolved = config.resolve(operation, "standard", &strict);
        assert_eq!(resolved.policy.attempts(), Some(7));
        assert!(!resolved.policy.is_idempotent(), "{operation}");
    }
    let free = config.resolve("charge", "standard", &Policy::new());
    assert!(free.policy.is_idempotent());
    let forbids = Config::from_toml("[policies.standard]\nidempotent = false\n").unwrap();
    let resolved = forbids.resolve("other", "standard", &Policy::new().idempotent(true));
    assert!(!resolved.policy.is_idempotent());
}

/// A layer asks the request, which the file knows nothing of either.
#[tokio::test(start_paused = true)]
async fn a_post_under_a_policy_of_a_file() {
    let calls = async |config: &Config, change: fn(Policy) -> Policy| {
        let calls = AtomicU32::new(0);
        let service = service_fn(|_: reqwest::Request| {
            calls.fetch_add(1, Ordering::Relaxed);
            async { Err::<reqwest::Response, _>(io::Error::from(io::ErrorKind::ConnectionReset)) }
        });
        let policy = change(config.policy("standard").unwrap());
        let layer = RetryLayer::http(policy).clone_request(reqwest::Request::try_clone);
        let url = "http://localhost/orders".parse().unwrap();
        let post = reqwest::Request::new(reqwest::Method::POST, url);
        let answer = layer.layer(service).oneshot(post).await;
        assert!(answer.is_err());
        calls.into_inner()
    };
    let permits = Config::from_toml("[policies.standard]\nidempotent = true\nmax = 2\n").unwrap();
    assert_eq!(calls(&permits, |policy| policy).await, 1);
    assert_eq!(calls(&permits, |policy| policy.idempotent(true)).await, 2);
    let forbids = Config::from_toml("[policies.standard]\nidempotent = false\nmax = 2\n").unwrap();
    assert_eq!(calls(&forbids, |policy| policy).await, 1);
}
