//! The pages of the documentation and the tables of keys say the same.

mod errors;
mod index;
mod messages;

use reattempt_syntax::keys::KEYS;
use retry_runtime::rules::Key;

/// The table of the documentation and its headings have these keys, in this order.
#[test]
fn the_documentation_has_every_key() {
    let text = include_str!("../../docs/retry.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| [`"));
    let rows: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
    assert_eq!(rows, KEYS);
    for key in Key::ALL {
        let row = text
            .lines()
            .find(|line| line.starts_with(&format!("| [`{key}`]")));
        let default = row.and_then(|row| row.trim_end_matches(" |").rsplit(" | ").next());
        let default = default.map(|default| default.trim_matches('`'));
        assert_eq!(
            default,
            Some(key.default_value().trim_matches('`')),
            "{key}"
        );
    }
    let headings = text.lines().filter_map(|line| line.strip_prefix("## `"));
    let headings: Vec<_> = headings
        .map(|heading| heading.trim_end_matches('`'))
        .filter(|heading| KEYS.contains(heading))
        .collect();
    assert_eq!(headings, KEYS);
}
