//! The pages of the documentation and the tables of keys say the same.

use crate::args::{STEP_KEYS, WORKFLOW_KEYS};

/// The tables of the documentation and its headings have these keys, in this order.
#[test]
fn the_documentation_has_every_key() {
    for (text, keys) in [
        (include_str!("../../docs/step.md"), STEP_KEYS),
        (include_str!("../../docs/workflow.md"), WORKFLOW_KEYS),
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
