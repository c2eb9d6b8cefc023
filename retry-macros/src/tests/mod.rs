//! The pages of the documentation and the tables of keys say the same.

mod errors;

use retry_syntax::keys::KEYS;

/// The table of the documentation and its headings have these keys, in this order.
#[test]
fn the_documentation_has_every_key() {
    let text = include_str!("../../docs/retry.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| [`"));
    let rows: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
    assert_eq!(rows, KEYS);
    let headings = text.lines().filter_map(|line| line.strip_prefix("## `"));
    let headings: Vec<_> = headings
        .map(|heading| heading.trim_end_matches('`'))
        .filter(|heading| KEYS.contains(heading))
        .collect();
    assert_eq!(headings, KEYS);
}

/// So do those of durable tasks.
#[test]
#[cfg(feature = "durable")]
fn the_documentation_has_every_key_of_durable_tasks() {
    for (text, keys) in [
        (include_str!("../../docs/step.md"), crate::durable::OF_STEP),
        (
            include_str!("../../docs/workflow.md"),
            crate::durable::OF_WORKFLOW,
        ),
    ] {
        let rows = text.lines().filter_map(|line| line.strip_prefix("| [`"));
        let rows: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
        assert_eq!(rows, keys);
        let headings = text.lines().filter_map(|line| line.strip_prefix("## `"));
        let headings: Vec<_> = headings
            .map(|heading| heading.trim_end_matches('`'))
            .collect();
        assert_eq!(headings, keys);
    }
}
