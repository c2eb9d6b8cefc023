//! The dashboard and the alert rules name metrics that exist.

use std::collections::BTreeSet;

const DASHBOARD: &str = include_str!("../../watching/dashboard.json");
const ALERTS: &str = include_str!("../../watching/alerts.yaml");
const METRICS: &str = include_str!("../../src/events/to_metrics.rs");

/// Returns the names of metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let names = words.filter(|word| word.starts_with("retry_"));
    let names = names.map(|name| name.trim_end_matches("_bucket"));
    names.map(|name| name.trim_end_matches("_count")).collect()
}

#[test]
fn every_metric_that_they_name_exists_and_the_dashboard_has_all() {
    let known = names(METRICS);
    assert!(known.len() >= 14, "{known:?}");
    assert_eq!(names(DASHBOARD), known);
    assert!(names(ALERTS).is_subset(&known), "{:?}", names(ALERTS));
    assert_eq!(ALERTS.matches("- alert: ").count(), 7);
    assert_eq!(ALERTS.matches("        expr: ").count(), 7);
    assert_eq!(ALERTS.matches("          summary: ").count(), 7);
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut titles = BTreeSet::new();
    for panel in panels {
        assert!(titles.insert(panel["title"].as_str().unwrap()), "{panel}");
        assert!(
            panel["targets"][0]["expr"]
                .as_str()
                .is_some_and(|expr| !names(expr).is_empty()),
            "{panel}"
        );
    }
}
