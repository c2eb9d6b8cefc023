//! The pages of the documentation and the tables of keys say the same.

mod editor;
mod errors;
mod forms;
mod index;
mod messages;
mod slips;
mod verdicts;

use reattempt_policy::rules::Key;
use reattempt_syntax::keys::KEYS;

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
        let default = row.and_then(|row| row.split(" | ").nth(2));
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

#[test]
fn each_key_has_an_example() {
    let text = include_str!("../../docs/retry.md");
    for key in KEYS {
        let section = text.split(&format!("\n## `{key}`\n")).nth(1);
        let section = section.and_then(|rest| rest.split("\n## ").next());
        let code =
            section.and_then(|section| section.split("```rust\n").nth(1)?.split("```").next());
        let mut forms = [" = ", "(", ")"].into_iter();
        let shown = forms.any(|end| code.is_some_and(|code| code.contains(&format!("{key}{end}"))));
        assert!(shown, "`{key}`");
    }
}
