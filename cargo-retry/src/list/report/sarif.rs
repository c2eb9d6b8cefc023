//! For code review: SARIF 2.1.0, with a note for each policy, a warning where retries multiply, an error for each rule
//! that is broken.

use std::error::Error;
use std::fmt::Write as _;

use retry_runtime::rules::Entry;
use serde_json::{Value, json};

use super::{Attempts, Below, Listing, Row};

pub(super) fn text(listing: &Listing) -> Result<String, Box<dyn Error>> {
    let results: Vec<Value> = listing.policies.iter().flat_map(results).collect();
    let mut ids: Vec<&str> = results
        .iter()
        .filter_map(|it| it.get("ruleId")?.as_str())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let rules: Vec<Value> = ids.iter().map(|id| rule(id)).collect();
    let missing: Vec<Value> = listing
        .unread
        .iter()
        .map(|it| {
            json!({
                "level": "warning",
                "message": { "text": it.told },
                "locations": [location(&it.file, it.line, it.column)],
            })
        })
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "cargo-retry",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "invocations": [{
                "executionSuccessful": listing.unread.is_empty(),
                "toolExecutionNotifications": missing,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&log)?))
}

fn rule(id: &str) -> Value {
    let words = match id {
        "policy" => "A place that retries, and its policy".to_owned(),
        "nested" => "A retried call that makes another retried call".to_owned(),
        "refused" => "A policy that does not compile".to_owned(),
        id => format!("Rule {id} about policies"),
    };
    let mut rule = json!({ "id": id, "shortDescription": { "text": words } });
    if let (Some(entry), Some(rule)) = (
        Entry::ALL.iter().find(|it| it.id() == id),
        rule.as_object_mut(),
    ) {
        rule.insert("helpUri".to_owned(), entry.address().into());
    }
    rule
}

fn results(row: &Row) -> Vec<Value> {
    let mut all = vec![result(
        "policy",
        "note",
        &words(row),
        row,
        row.line,
        row.column,
    )];
    for below in &row.calls {
        let level = if below.recursive || multiplies(row, below) {
            "warning"
        } else {
            "note"
        };
        let text = format!("{}.", super::cells::nested(row, below));
        all.push(result("nested", level, &text, row, row.line, row.column));
    }
    for fault in &row.faults {
        all.push(result(
            fault.rule.unwrap_or("refused"),
            "error",
            &fault.message,
            row,
            fault.line,
            fault.column,
        ));
    }
    all
}

/// Whether each attempt of the one makes all attempts of the other.
fn multiplies(row: &Row, below: &Below) -> bool {
    match (below.attempts, row.schedule.as_ref().map(|it| it.load)) {
        (Attempts::Known(count), Some(Attempts::Known(own))) => {
            let places = match below.places {
                Attempts::Known(places) => places,
                Attempts::Word(_) => 1,
            };
            count > own.saturating_mul(places) && !below.is_held()
        }
        (attempts, _) => attempts == Attempts::Word("unlimited") && !below.is_held(),
    }
}

fn words(row: &Row) -> String {
    let words = row
        .schedule
        .as_ref()
        .and_then(|schedule| schedule.words.clone());
    let words = words.unwrap_or_else(|| {
        let keys = row.written.iter().map(|it| {
            if it.key.is_empty() {
                it.value.clone()
            } else {
                format!("{} = {}", it.key, it.value)
            }
        });
        format!("Retried by `{}`.", keys.collect::<Vec<_>>().join(", "))
    });
    format!("{}: {words}", row.operation)
}

fn result(rule: &str, level: &str, text: &str, row: &Row, line: usize, column: usize) -> Value {
    json!({
        "ruleId": rule,
        "level": level,
        "message": { "text": text },
        "locations": [location(&row.file, line, column)],
        // The same place is the same finding when lines move.
        "partialFingerprints": { "operation/v1": format!("{rule}:{}", row.operation) },
    })
}

fn location(file: &str, line: usize, column: usize) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": encoded(file), "uriBaseId": "%SRCROOT%" },
        "region": { "startLine": line, "startColumn": column },
    }})
}

/// A path as an address.
fn encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            byte => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}
