//! The JSON schema of a file, for editors: made of the tables that the reader has, so that it knows the same words.

use std::sync::OnceLock;

use super::budget::BUDGET;
use super::span::quoted;
use super::telemetry::TELEMETRY as SETTINGS;
use super::{DEFAULT, ENABLED, OPERATIONS, POLICIES, POLICY};
use reattempt_parse::{JITTERS, LEVELS, NESTED, SHAPES, TELEMETRY, UNLIMITED};
use retry_runtime::rules::Key;

/// The JSON schema (draft 2020-12) of the file, for editors. It lies in the repository as `docs/retry.schema.json`.
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

/// What a key may be, and what it is in a few words.
fn of_key(key: Key) -> (Json, &'static str) {
    match key {
        Key::Max => (
            any([count("1"), object([("const", text(UNLIMITED))])]),
            "attempts in all, the first one included (default: 3)",
        ),
        Key::Backoff => (words(SHAPES), "the shape of the delays (default: \"exp\")"),
        Key::Base => (duration(), "the unit of the shape (default: \"100ms\")"),
        Key::First => (
            duration(),
            "the delay before the first retry (default: that of `base`)",
        ),
        Key::Factor => (
            object([
                ("type", text("number")),
                ("exclusiveMinimum", Json::Raw("1")),
            ]),
            "the growth of \"exp\" from one delay to the next (default: 2.0)",
        ),
        Key::Cap => (
            duration(),
            "no delay is longer than this (default: \"20s\")",
        ),
        Key::Jitter => {
            let ratio = object([
                ("type", text("number")),
                ("minimum", Json::Raw("0")),
                ("maximum", Json::Raw("1")),
            ]);
            (
                any([ratio, words(JITTERS)]),
                "how each delay is spread (default: \"full\")",
            )
        }
        Key::FastFirst => (
            flag(),
            "whether the first retry comes at once (default: false)",
        ),
        Key::ResetAfter => (
            duration(),
            "an attempt that ran at least this long before it failed starts the count and the delays anew (default: none)",
        ),
        Key::Deadline => (
            duration(),
            "one limit over all attempts and delays (default: none)",
        ),
        Key::Timeout => (duration(), "the limit of one attempt (default: none)"),
        Key::MaxRetryAfter => (
            duration(),
            "the longest delay asked for by an error that is waited for (default: \"1m\")",
        ),
        Key::Idempotent => (
            flag(),
            "whether the operation may be executed twice (default: true)",
        ),
        Key::Nested => (
            words(NESTED),
            "what happens inside a retry of another call (default: \"collapse\")",
        ),
        Key::Budget => (
            any([share(), table(BUDGET.iter().map(of_budget).collect())]),
            "how many retries all calls may make together (default: none)",
        ),
        Key::Telemetry => (
            any([
                words(TELEMETRY),
                table(SETTINGS.iter().map(of_telemetry).collect()),
            ]),
            "what is told of its calls, and how loudly (default: \"default\")",
        ),
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

fn of_telemetry(word: &&str) -> (String, Json) {
    let value = match *word {
        "timings" | "spans" => flag(),
        "give_up_interval" => duration(),
        _ => words(LEVELS),
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
        let (value, description) = of_key(*key);
        (key.as_str().to_owned(), described(value, description))
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
