//! A place in the list, as a line that can be compared.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// The word behind `//~` on the line above a place.
#[derive(Default)]
pub(crate) struct Markers(HashMap<String, Vec<String>>);

impl Markers {
    fn at(&mut self, folder: &Path, file: &str, line: u64) -> String {
        let lines = self.0.entry(file.to_owned()).or_insert_with(|| {
            let text = fs::read_to_string(folder.join(file)).expect("a file of the project");
            text.lines().map(|line| line.trim().to_owned()).collect()
        });
        let above = usize::try_from(line).expect("a line") - 2;
        let marker = lines[above].strip_prefix("//~ ");
        marker
            .unwrap_or_else(|| panic!("no marker above {file}:{line}"))
            .to_owned()
    }
}

/// Milliseconds; ranges from the least to the longest.
pub(crate) fn reported(project: &Path, row: &Value, markers: &mut Markers) -> String {
    let ms = |value: &Value| value.as_f64().map(|nanos| nanos / 1e6);
    let (file, line) = place(row);
    let schedule = &row["schedule"];
    let mut text = format!(
        "{} {} {} x{}",
        markers.at(project, &file, line),
        row["operation"]
            .as_str()
            .expect("an operation")
            .replace(&format!(":{line}"), ":LINE"),
        count(&schedule["attempts"]),
        count(&schedule["load"]),
    );
    let delays = schedule["delays"].as_array().map(|delays| {
        let delays = delays.iter().map(|delay| {
            let (least, longest) = (ms(&delay["least_ns"]), ms(&delay["longest_ns"]));
            let (least, longest) = (least.expect("a time"), longest.expect("a time"));
            if least < longest {
                format!("{least}-{longest}")
            } else {
                least.to_string()
            }
        });
        let delays: Vec<_> = delays.collect();
        if delays.len() > 6 {
            format!("{} ...", delays[..3].join(" "))
        } else {
            delays.join(" ")
        }
    });
    let _ = write!(text, " [{}]", delays.unwrap_or_else(|| "?".to_owned()));
    for (key, word) in [
        ("sleeping_ns", "sleeps"),
        ("wall_ns", "lasts"),
        ("deadline_ns", "deadline"),
        ("timeout_ns", "timeout"),
    ] {
        if let Some(time) = ms(&schedule[key]) {
            let _ = write!(text, " {word} {time}");
        }
    }
    if let Some(share) = schedule["budget"].as_f64() {
        let _ = write!(text, " share {share}");
    }
    if let Some(policy) = row["policy"].as_str() {
        let _ = write!(text, " policy {policy}");
    }
    for limit in ["budget", "breaker", "throttle", "hedge"] {
        let written = row["written"].as_array().expect("keys").iter();
        for written in written.filter(|it| it["key"] == limit) {
            let _ = write!(
                text,
                " {limit} {}",
                written["value"].as_str().expect("a value")
            );
        }
    }
    for (key, word) in [("unknown", "unknown"), ("conditions", "if")] {
        if let Some(list) = row[key].as_array() {
            let list: Vec<_> = list.iter().filter_map(Value::as_str).collect();
            let _ = write!(text, " {word} {}", list.join(", "));
        }
    }
    if let Some(name) = row["by_macro"].as_str() {
        let _ = write!(text, " in {name}!");
    }
    if row["off"] == true {
        text += " off";
    }
    let targets: Vec<_> = row["targets"]
        .as_array()
        .expect("kinds")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let form = row["form"]
        .as_str()
        .expect("a form")
        .split(' ')
        .next()
        .expect("a word");
    let is_async = if row["async"] == true { "async " } else { "" };
    let _ = write!(
        text,
        "; {is_async}{form} of {} ({})",
        row["package"].as_str().expect("a package"),
        targets.join(", ")
    );
    for below in row["calls"].as_array().into_iter().flatten() {
        text += &reported_below(project, below, markers);
    }
    text
}

/// A retried call below another.
fn reported_below(project: &Path, below: &Value, markers: &mut Markers) -> String {
    let (file, line) = place(below);
    let mut text = format!(
        "\n  -> {} {}/{}",
        markers.at(project, &file, line),
        count(&below["attempts"]),
        count(&below["multiplied"])
    );
    if let Some(through) = below["through"].as_array() {
        let through: Vec<_> = through.iter().filter_map(Value::as_str).collect();
        let _ = write!(text, " through {}", through.join(", "));
    }
    for word in ["spawned", "recursive"] {
        if below[word] == true {
            let _ = write!(text, " {word}");
        }
    }
    text
}

fn count(value: &Value) -> String {
    match value.as_str() {
        Some("unknown") => "?".to_owned(),
        None if value.is_null() => "?".to_owned(),
        Some(word) => word.to_owned(),
        None => value.to_string(),
    }
}

fn place(row: &Value) -> (String, u64) {
    (
        row["file"].as_str().expect("a file").to_owned(),
        row["line"].as_u64().expect("a line"),
    )
}
