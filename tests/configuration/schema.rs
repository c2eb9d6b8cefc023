//! The schema knows what the reader knows.

use reattempt::config::{Config, schema};
use reattempt::policy::rules::{Key, Kind};
use reattempt::policy::{Nested, Priority};
use reattempt::{Backoff, Jitter};
use serde_json::Value;

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(schema()).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

fn json(text: &str) -> Value {
    figment::Figment::from(figment::providers::Toml::string(text))
        .extract()
        .unwrap()
}

use figment::providers::Format as _;

/// After a change: `UPDATE_EXPECT=1 cargo test -p reattempt-configuration-tests --test configuration schema`.
#[test]
fn the_file_in_the_repository_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/retry.schema.json");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, schema()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), schema());
}

#[test]
fn every_key_is_in_it() {
    let schema: Value = serde_json::from_str(schema()).unwrap();
    for kind in ["policy", "operation"] {
        let properties = &schema["$defs"][kind]["properties"];
        for key in Key::ALL {
            assert!(properties.get(key.as_str()).is_some(), "{kind} {key}");
        }
        let more = properties.as_object().unwrap().len() - Key::ALL.len();
        assert_eq!(more, if kind == "policy" { 0 } else { 2 });
    }
}

fn words<T>(table: &[(&str, T)]) -> String {
    let words: Vec<_> = table
        .iter()
        .map(|(word, _)| format!("`\"{word}\"`"))
        .collect();
    words.join(", ")
}

/// The page has a row for each key of the table, in its order.
#[test]
fn the_table_of_keys_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let page = std::fs::read_to_string(path).unwrap();
    let row = |key: Key| {
        let value = match key.kind() {
            Kind::Attempts => "a number, or `\"unlimited\"`",
            Kind::Backoff => &words(Backoff::WORDS),
            Kind::Time => "a duration",
            Kind::Factor => "a number above 1",
            Kind::Jitter => &format!("{}, or a ratio", words(Jitter::WORDS)),
            Kind::Flag => "`true` or `false`",
            Kind::Codes => {
                "a table of verdicts: `\"transient\"`, `\"throttled\"`, `\"refused\"`, `\"permanent\"`"
            }
            Kind::Nested => &words(Nested::WORDS),
            Kind::Priority => &words(Priority::WORDS),
            Kind::Budget => "a ratio, a table, or `\"none\"`",
            Kind::Telemetry => "`\"default\"`, `\"quiet\"`, `\"timings\"`, `\"spans\"`, or a table",
        };
        let default = match key.default_value() {
            quoted if quoted.starts_with('"') => format!("`{quoted}`"),
            plain => plain.to_owned(),
        };
        format!("| `{key}` | {value} | {default} | {} |\n", key.meaning())
    };
    let rows: String = Key::ALL.into_iter().map(row).collect();
    let head = "| key | value | default | meaning |\n|---|---|---|---|\n";
    let (before, table) = page.split_once(head).unwrap();
    let (_, after) = table.split_once("\n\n").unwrap();
    let current = format!("{before}{head}{rows}\n{after}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, &current).unwrap();
    } else {
        assert_eq!(page, current);
    }
}

/// The files of the documentation are good ones, for the reader and for the schema.
#[test]
fn the_documentation() {
    let page = include_str!("../../docs/configuration.md");
    let blocks = page
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    let blocks: Vec<_> = blocks.collect();
    assert!(blocks.len() >= 3, "{}", blocks.len());
    for block in blocks {
        if let Err(faults) = Config::from_toml(block) {
            panic!("{block}\n{faults}");
        }
        if let Err(error) = validator().validate(&json(block)) {
            panic!("{block}\n{error}");
        }
    }
}

#[test]
fn what_the_schema_refuses() {
    let validator = validator();
    for (bad, good) in [
        ("max = 0", "max = 1"),
        ("max = \"endless\"", "max = \"unlimited\""),
        ("backoff = \"wavy\"", "backoff = \"fibonacci\""),
        ("base = 250", "base = \"1m 30.5s\""),
        ("base = \"250\"", "base = \"1_000 us\""),
        ("base = \"1.s\"", "base = \"1h30m\""),
        ("factor = 1", "factor = 1.5"),
        ("jitter = 1.5", "jitter = 1"),
        ("jitter = \"half\"", "jitter = \"equal\""),
        ("fast_first = 1", "fast_first = true"),
        ("reset_after = 60", "reset_after = \"1m\""),
        ("nested = \"no\"", "nested = \"multiply\""),
        ("budget = 0", "budget = 0.1"),
        (
            "budget = { tokens = 0 }",
            "budget = { tokens = 500, throttled_cost = 5 }",
        ),
        (
            "budget = { ratio = 1 }",
            "budget = { per_request = 1, ttl = \"5s\", floor = 0, initial = 0 }",
        ),
        ("telemetry = \"loud\"", "telemetry = \"quiet\""),
        (
            "telemetry = { give_up = 3 }",
            "telemetry = { give_up = \"error\", timings = true, give_up_interval = \"1s\" }",
        ),
        ("retries = 3", ""),
        ("on = \"_\"", ""),
    ] {
        for table in ["[policies.a]", "[operations.a]"] {
            let [bad, good] = [bad, good].map(|key| json(&format!("{table}\n{key}\n")));
            assert!(!validator.is_valid(&bad), "{bad}");
            assert!(validator.is_valid(&good), "{good}");
        }
    }
    for bad in [
        "enabled = 1",
        "max = 3",
        "default = 1",
        "[policies.\"my own\"]",
        "[policies.a]\nenabled = true",
    ] {
        assert!(!validator.is_valid(&json(bad)), "{bad}");
    }
}
