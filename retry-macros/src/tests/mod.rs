//! The pages of the documentation and the tables of keys say the same.

mod errors;
mod index;
mod messages;

use reattempt_syntax::keys::KEYS;

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
