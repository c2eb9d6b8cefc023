//! For code review: SARIF 2.1.0, with a note for each policy, a warning where retries multiply, an error for each rule
//! that is broken.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use retry_runtime::rules::RuleId;
use serde_json::{Value, json};

use super::{Attempts, Below, Listing, Row};
use crate::explain::title;

pub(super) fn text(listing: &Listing) -> Result<String, Box<dyn Error>> {
    let mut known = HashMap::new();
    let rows = listing.policies.iter();
    let results: Vec<Value> = rows.flat_map(|row| results(row, &mut known)).collect();
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
                "message": { "text": it.reported },
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
        id => title(id).unwrap_or_else(|| format!("Rule {id} about policies")),
    };
    let mut rule = json!({ "id": id, "shortDescription": { "text": words } });
    if let (Some(known), Some(rule)) = (
        RuleId::ALL.iter().find(|it| it.as_str() == id),
        rule.as_object_mut(),
    ) {
        rule.insert("helpUri".to_owned(), known.url().into());
    }
    rule
}

/// How often each finding of a name has been reported.
type Known = HashMap<String, usize>;

fn results(row: &Row, known: &mut Known) -> Vec<Value> {
    let mut reported = |rule: &str, level: &str, text: &str, of: &str, place: (usize, usize)| {
        let mut print = format!("{rule}:{of}");
        let count = known.entry(print.clone()).or_insert(0);
        *count = count.saturating_add(1);
        // Those of one function by their order, which stays when lines move.
        if *count > 1 {
            let _ = write!(print, "#{count}");
        }
        json!({
            "ruleId": rule,
            "level": level,
            "message": { "text": text },
            "locations": [location(&row.file, place.0, place.1)],
            "partialFingerprints": { "operation/v1": print },
        })
    };
    let own = row.identity.as_str();
    let here = (row.line, row.column);
    let mut all = vec![reported("policy", "note", &words(row), own, here)];
    for below in &row.calls {
        let level = if below.recursive || multiplies(row, below) {
            "warning"
        } else {
            "note"
        };
        let text = format!("{}.", super::cells::nested(row, below));
        let both = format!("{own} -> {}", below.identity);
        all.push(reported("nested", level, &text, &both, here));
    }
    for fault in &row.faults {
        let place = (fault.line, fault.column);
        all.push(reported(fault.rule, "error", &fault.message, own, place));
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

fn location(file: &str, line: usize, column: usize) -> Value {
    // What lies outside of the root has its whole path.
    let artifact = if Path::new(file).is_absolute() {
        json!({ "uri": format!("file:///{}", encoded(file.trim_start_matches('/'))) })
    } else {
        json!({ "uri": encoded(file), "uriBaseId": "%SRCROOT%" })
    };
    json!({ "physicalLocation": {
        "artifactLocation": artifact,
        "region": { "startLine": line, "startColumn": column },
    }})
}

/// A path as an address.
fn encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => {
                text.push(char::from(byte));
            }
            byte => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}
