//! A policy among the settings of a service, by the readers that services use.

use std::time::Duration;

use figment::Figment;
use figment::providers::{Format as _, Toml};
use proptest::prelude::*;
use reattempt::observe::Level;
use reattempt::policy::{Codes, OnCode};
use reattempt::{Backoff, Budget, Policy, Telemetry};
use serde::Deserialize;

use crate::mistakes::Block;
use crate::random::layer;

#[derive(Debug, Deserialize)]
struct Settings {
    retry: Policy,
}

const TEXT: &str = r#"
[retry]
max = 5
base = "50ms"
jitter = 0.2
telemetry = { give_up = "error", timings = true }
codes = { 404 = "transient", 503 = { verdict = "throttled", base = "5s" } }
budget = "none"
"#;

const CODES: Codes = Codes::new(&[
    OnCode::transient("404"),
    OnCode::throttled("503").base(Duration::from_secs(5)),
]);

fn wanted() -> Policy {
    Policy::new()
        .max(5)
        .base(Duration::from_millis(50))
        .jitter(reattempt::Jitter::Ratio(0.2))
        .telemetry(Telemetry::new().give_up(Level::Error).timings())
        .codes(CODES)
        .without_budget()
        .build()
        .unwrap()
}

#[track_caller]
fn assert_same(policy: &Policy, other: &Policy) {
    assert_eq!(format!("{policy:?}"), format!("{other:?}"));
}

fn by_figment(text: &str) -> Result<Settings, Box<figment::Error>> {
    Ok(Figment::from(Toml::string(text)).extract()?)
}

#[test]
fn figment_reads_it() {
    assert_same(&by_figment(TEXT).unwrap().retry, &wanted());
    let error = by_figment("[retry]\nmax = 4\nbase = 5\n").unwrap_err();
    assert_eq!(error.path.join("."), "retry.base");
    assert!(error.to_string().contains("write `\"5ms\"`"), "{error}");
}

#[test]
fn config_reads_it() {
    let read = |text: &str| {
        let source = config::File::from_str(text, config::FileFormat::Toml);
        let all = config::Config::builder().add_source(source).build()?;
        all.try_deserialize::<Settings>()
    };
    assert_same(&read(TEXT).unwrap().retry, &wanted());
    let error = read("[retry]\nmax = 0\n").unwrap_err().to_string();
    assert!(error.contains("R1") && error.contains("retry"), "{error}");
}

/// What a variable sets is a text there, and a number or a flag for a reader that looks.
#[test]
fn variables_set_its_keys() {
    let variables = [("APP__RETRY__MAX", "4"), ("APP__RETRY__FAST_FIRST", "true")];
    let map = variables.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let source = config::Environment::with_prefix("APP")
        .prefix_separator("__")
        .separator("__")
        .try_parsing(true)
        .source(Some(map.into()));
    let all = config::Config::builder()
        .add_source(source)
        .build()
        .unwrap();
    let settings: Settings = all.try_deserialize().unwrap();
    assert_same(
        &settings.retry,
        &Policy::new().max(4).fast_first(true).build().unwrap(),
    );
}

#[test]
fn serde_json_reads_it() {
    let text = r#"{ "retry": { "max": 5, "base": "50ms", "jitter": 0.2, "budget": "none",
        "telemetry": { "give_up": "error", "timings": true },
        "codes": { "503": { "verdict": "throttled", "base": "5s" }, "404": "transient" } } }"#;
    let settings: Settings = serde_json::from_str(text).unwrap();
    assert_same(&settings.retry, &wanted());
    for (text, part) in [
        (r#"{ "max": 4, "max": 5 }"#, "`max` is given twice"),
        (r#"{ "max": -1 }"#, "[R1]"),
        (r#"{ "max": null }"#, "expected a number of attempts"),
        (r#"{ "max": [3] }"#, "expected a number of attempts"),
        (r#"{ "maxRetries": 3 }"#, "it is called `max` here"),
        (r#"{ "on": "transient" }"#, "in the code alone"),
        (r#"{ "telemetry": { "giveup": "off" } }"#, "`give_up`"),
        (r#"{ "telemetry": { "give_up": "loud" } }"#, "`give_up`"),
        (r#"{ "cap": "1s", "base": "2s" }"#, "rule X1: https://"),
        ("3", "a table with the keys of a policy, such as `max = 4`"),
    ] {
        let error = serde_json::from_str::<Policy>(text)
            .unwrap_err()
            .to_string();
        let part = part.replace("[R1]", "rule R1: https://");
        assert!(error.contains(&part), "{text}: {error}");
    }
}

/// Settings have the same words as policy files, and the same messages.
#[test]
fn what_files_accept_and_refuse_settings_do() {
    let blocks = include_str!("values.txt").split("\n\n");
    let mut seen = 0;
    for block in blocks.map(|block| Block::read(block, "[retry]\n")) {
        if block.bad.contains("budget") || block.good.contains("budget") {
            continue;
        }
        if let Err(error) = by_figment(&block.good) {
            panic!("{}\n{error}", block.good);
        }
        let read = by_figment(&block.bad);
        if block.faults.is_empty() {
            continue;
        }
        let error = read.expect_err(&block.bad).to_string();
        let is_said = block.faults.iter().any(|(place, part)| {
            let rule = place.rsplit(['[', ']']).nth(1).unwrap_or_default();
            error.contains(&**part) && error.contains(&format!("(rule {rule}: "))
        });
        assert!(is_said, "{}\n{error}", block.bad);
        seen += 1;
    }
    assert!(seen >= 50, "{seen}");
}

#[test]
fn a_budget_belongs_elsewhere() {
    static SHARED: Budget = Budget::per_success(0.1);
    for budget in ["0.1", "{ per_request = 0.1 }"] {
        let error = by_figment(&format!("[retry]\nbudget = {budget}\n")).unwrap_err();
        assert_eq!(error.path.join("."), "retry.budget");
        let error = error.to_string();
        for part in [
            "`#[retry(budget = 0.1)]`",
            "`budget = \"none\"`",
            "a policy file",
        ] {
            assert!(error.contains(part), "{error}");
        }
    }
    let error = serde_json::to_string(&Policy::new().budget(&SHARED)).unwrap_err();
    assert!(error.to_string().contains("budget"), "{error}");
}

#[test]
fn a_function_has_no_written_form() {
    let shape = Policy::new().backoff(Backoff::Custom(&|_: u32| Duration::from_secs(1)));
    let error = serde_json::to_string(&shape).unwrap_err().to_string();
    assert!(error.contains("give `backoff` in the code"), "{error}");
}

#[test]
fn only_what_was_set_is_written() {
    let shown = |policy: Policy| serde_json::to_string(&policy).unwrap();
    assert_eq!(shown(Policy::new()), "{}");
    let policy = Policy::new()
        .unlimited()
        .deadline(Duration::from_millis(90_500))
        .telemetry(Telemetry::quiet());
    let text = r#"{"max":"unlimited","deadline":"1m 30.5s","telemetry":"quiet"}"#;
    assert_eq!(shown(policy), text);
    assert_eq!(
        shown(Policy::new().without_budget()),
        r#"{"budget":"none"}"#
    );
}

proptest! {
    #[test]
    fn a_round_trip_is_equal((policy, text) in layer(), spans in any::<bool>(), level in 0_usize..6) {
        let levels = [Level::Off, Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error];
        let telemetry = Telemetry::new().retry(levels[level]).first_retry(levels[5 - level]);
        let policy = policy.telemetry(if spans { telemetry.spans() } else { telemetry });
        match policy.violation() {
            None => {
                let json = serde_json::to_string(&policy).unwrap();
                let read: Policy = serde_json::from_str(&json).unwrap();
                prop_assert_eq!(format!("{:?}", read), format!("{:?}", policy.build().unwrap()), "{}", json);
            }
            Some(violation) => {
                let error = by_figment(&format!("[retry]\n{text}")).unwrap_err().to_string();
                prop_assert!(error.contains(violation.message()), "{}\n{}", text, error);
            }
        }
    }
}
