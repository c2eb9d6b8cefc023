//! The JSON schema of a file, for editors: made of the tables that the reader has, so that it knows the same words.

use std::sync::OnceLock;

use super::budget::BUDGET;
use super::span::quoted;
use super::{DEFAULT, ENABLED, OPERATIONS, POLICIES, POLICY};
use reattempt_policy::written::TELEMETRY_SETTINGS as SETTINGS;
use reattempt_policy::written::{CODE_SETTINGS, MEANINGS, TELEMETRY, UNLIMITED};
use reattempt_policy::{Backoff, Jitter, Level, Nested, Priority};
use retry_runtime::rules::{Key, Kind};

/// Returns the JSON schema (draft 2020-12) of the file, for editors. It lies in the repository as
/// `docs/retry.schema.json`.
///
/// It knows keys, words and types; what several values mean together only the rules know.
///
/// # Examples
///
/// ```
/// use reattempt::config::schema;
///
/// assert!(schema().contains("https://json-schema.org/draft/2020-12/schema"));
/// ```
pub fn schema() -> &'static str {
    static SCHEMA: OnceLock<String> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut text = written(&whole(), 0);
        text.push('\n');
        text
    })
}

/// A piece of JSON; texts only where they need no escapes but those of `quoted`.
enum Json {
    Raw(&'static str),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.map(|(key, value)| (key.to_owned(), value)).into())
}

fn words<T>(table: &[(&str, T)]) -> Json {
    let words = table.iter().map(|(word, _)| text(word)).collect();
    object([("enum", Json::List(words))])
}

fn any<const N: usize>(kinds: [Json; N]) -> Json {
    object([("anyOf", Json::List(kinds.into()))])
}

fn flag() -> Json {
    object([("type", text("boolean"))])
}

fn duration() -> Json {
    let pattern = r"^\s*([0-9_]+(\.[0-9_]+)?\s*(ns|us|µs|μs|ms|s|m|h)\s*)+$";
    object([("type", text("string")), ("pattern", text(pattern))])
}

/// Above 0, up to 1.
fn share() -> Json {
    object([
        ("type", text("number")),
        ("exclusiveMinimum", Json::Raw("0")),
        ("maximum", Json::Raw("1")),
    ])
}

fn count(least: &'static str) -> Json {
    object([
        ("type", text("integer")),
        ("minimum", Json::Raw(least)),
        ("maximum", Json::Raw("4294967295")),
    ])
}

/// A table that has these keys and no others.
fn table(keys: Vec<(String, Json)>) -> Json {
    object([
        ("type", text("object")),
        ("additionalProperties", Json::Raw("false")),
        ("properties", Json::Object(keys)),
    ])
}

/// A table of names.
fn named(values: &str) -> Json {
    let name = r"^[^\s\u0000-\u001f\u007f-\u009f]+$";
    object([
        ("type", text("object")),
        ("propertyNames", object([("pattern", text(name))])),
        ("additionalProperties", reference(values)),
    ])
}

fn reference(path: &str) -> Json {
    object([("$ref", Json::Text(format!("#/$defs/{path}")))])
}

/// Returns what the value of a key may be.
fn of_kind(kind: Kind) -> Json {
    let number = |least: &'static str, bound: &'static str| {
        [("type", text("number")), (least, Json::Raw(bound))]
    };
    match kind {
        Kind::Attempts => any([count("1"), object([("const", text(UNLIMITED))])]),
        Kind::Backoff => words(Backoff::WORDS),
        Kind::Time => duration(),
        Kind::Factor => object(number("exclusiveMinimum", "1")),
        Kind::Jitter => {
            let [kind, least] = number("minimum", "0");
            any([
                object([kind, least, ("maximum", Json::Raw("1"))]),
                words(Jitter::WORDS),
            ])
        }
        Kind::Flag => flag(),
        Kind::Nested => words(Nested::WORDS),
        Kind::Priority => words(Priority::WORDS),
        Kind::Budget => any([
            share(),
            words(&[("none", ())]),
            table(BUDGET.iter().map(of_budget).collect()),
        ]),
        Kind::Codes => object([
            ("type", text("object")),
            (
                "additionalProperties",
                any([
                    words(MEANINGS),
                    table(CODE_SETTINGS.iter().map(of_code).collect()),
                ]),
            ),
        ]),
        Kind::Telemetry => any([
            words(TELEMETRY),
            table(SETTINGS.iter().map(of_telemetry).collect()),
        ]),
    }
}

fn of_budget(word: &&str) -> (String, Json) {
    let value = match *word {
        "per_success" | "per_request" => share(),
        "ttl" => duration(),
        "floor" => object([("type", text("number")), ("minimum", Json::Raw("0"))]),
        "initial" => count("0"),
        _ => count("1"),
    };
    ((*word).to_owned(), value)
}

fn of_code(word: &&str) -> (String, Json) {
    let value = match *word {
        "base" => duration(),
        _ => words(MEANINGS),
    };
    ((*word).to_owned(), value)
}

fn of_telemetry(word: &&str) -> (String, Json) {
    let value = match *word {
        "timings" | "spans" => flag(),
        "give_up_interval" => duration(),
        _ => words(Level::WORDS),
    };
    ((*word).to_owned(), value)
}

#[expect(clippy::disallowed_methods, reason = "in front of all")]
fn described(value: Json, description: &str) -> Json {
    let Json::Object(mut members) = value else {
        return value;
    };
    members.insert(0, ("description".to_owned(), text(description)));
    Json::Object(members)
}

fn whole() -> Json {
    let keys = Key::ALL.iter().map(|key| {
        let description = format!("{} (default: {})", key.meaning(), key.default_value());
        let value = described(of_kind(key.kind()), &description);
        (key.as_str().to_owned(), value)
    });
    let refer = |key: &Key| {
        let word = key.as_str();
        let value = reference(&format!("policy/properties/{word}"));
        (word.to_owned(), value)
    };
    let mut operation = vec![
        (
            POLICY.to_owned(),
            described(
                object([("type", text("string"))]),
                "the policy, in place of the one that the code names",
            ),
        ),
        (
            ENABLED.to_owned(),
            described(flag(), "whether the operation is retried (default: true)"),
        ),
    ];
    operation.extend(Key::ALL.iter().map(refer));
    object([
        (
            "$schema",
            text("https://json-schema.org/draft/2020-12/schema"),
        ),
        ("title", text("Policies of reattempt")),
        ("type", text("object")),
        ("additionalProperties", Json::Raw("false")),
        (
            "properties",
            object([
                (
                    ENABLED,
                    described(
                        flag(),
                        "the kill switch: false turns all retries off (default: true)",
                    ),
                ),
                (
                    DEFAULT,
                    described(
                        object([("type", text("string"))]),
                        "the name of the policy that \"default\" stands for",
                    ),
                ),
                (POLICIES, named("policy")),
                (OPERATIONS, named("operation")),
            ]),
        ),
        (
            "$defs",
            object([
                ("policy", table(keys.collect())),
                ("operation", table(operation)),
            ]),
        ),
    ])
}

/// Objects a member a line, unless they are short.
fn written(json: &Json, depth: usize) -> String {
    match json {
        Json::Raw(raw) => (*raw).to_owned(),
        Json::Text(text) => quoted(text),
        Json::List(items) => {
            let items: Vec<_> = items.iter().map(|item| written(item, depth)).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(members) => {
            let inner = depth.saturating_add(1);
            let members = members
                .iter()
                .map(|(key, value)| format!("{}: {}", quoted(key), written(value, inner)));
            let members: Vec<_> = members.collect();
            let line = format!("{{ {} }}", members.join(", "));
            if line.len() <= 100 && !line.contains('\n') {
                return line;
            }
            let (indent, end) = ("  ".repeat(inner), "  ".repeat(depth));
            format!(
                "{{\n{indent}{}\n{end}}}",
                members.join(&format!(",\n{indent}"))
            )
        }
    }
}
