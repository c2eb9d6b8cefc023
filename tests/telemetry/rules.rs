//! The dashboard and the rules of alerts name metrics and labels that exist.

use std::collections::BTreeSet;

const DASHBOARD: &str = include_str!("../../docs/watching/dashboard.json");
const ALERTS: &str = include_str!("../../docs/watching/alerts.yaml");
const GUIDE: &str = include_str!("../../docs/guide/src/operating.md");
const METRICS: &str = include_str!("../../docs/watching.md");

/// Returns the names of metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let names = words.filter(|word| word.starts_with("retry_"));
    let names = names.map(|name| name.trim_end_matches("_sum"));
    names.map(|name| name.trim_end_matches("_count")).collect()
}

/// Returns the row of the reference about a metric.
fn row(metric: &str) -> &'static str {
    let head = format!("| `{metric}` |");
    let row = METRICS.lines().find(|line| line.starts_with(&head));
    row.unwrap_or_else(|| panic!("{metric} is not in docs/watching.md"))
}

/// Asserts that each label of an expression about one metric is one of that metric.
fn assert_labels(expression: &str) {
    let metrics = names(expression);
    for list in expression.split("by (").skip(1) {
        let (labels, _) = list.split_once(')').unwrap();
        for label in labels.split(", ") {
            for metric in &metrics {
                let row = row(metric);
                assert!(row.contains(&format!("`{label}`")), "{label} of {row}");
            }
        }
    }
}

#[test]
fn the_dashboard_shows_every_metric() {
    let rows = METRICS.lines().filter(|line| line.starts_with("| `retry_"));
    let known: BTreeSet<_> = rows.map(|row| row.split('`').nth(1).unwrap()).collect();
    assert_eq!(names(DASHBOARD), known);
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let list = |value: &serde_json::Value| value.as_array().unwrap().clone();
    let panels = list(&dashboard["panels"]).into_iter();
    let queries = panels.flat_map(|panel| list(&panel["targets"]));
    let queries = queries.chain(list(&dashboard["annotations"]["list"]));
    for query in queries {
        assert_labels(query["expr"].as_str().unwrap());
    }
}

#[test]
fn the_dashboard_names_every_cause_of_the_guide() {
    let (_, table) = GUIDE.split_once("| most failures are |").unwrap();
    let rows = table.lines().skip(2).take_while(|line| !line.is_empty());
    let cells = rows.map(|row| row.split('|').nth(1).unwrap());
    let causes: Vec<_> = cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    assert_eq!(causes.len(), 6, "{causes:?}");
    for cause in causes {
        assert!(
            DASHBOARD.contains(&format!(r#"cause=\"{cause}\""#)),
            "{cause}"
        );
    }
}

#[test]
fn alerts_are_those_of_the_guide() {
    let rules: Vec<_> = ALERTS
        .lines()
        .filter_map(|line| line.trim().strip_prefix("expr: "))
        .collect();
    let (_, table) = GUIDE
        .split_once("| alert | what it watches | because |")
        .unwrap();
    let alerts = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    assert_eq!(alerts.count(), rules.len());
    for rule in &rules {
        assert_labels(rule);
    }
    let (_, shown) = GUIDE.split_once("```promql\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    for rule in shown.lines() {
        assert!(rules.contains(&rule), "{rule}");
    }
}
