//! The list calls operations what the running program calls them: `tests/telemetry/names.rs` runs the same file.

use crate::run::{json, written};

#[test]
fn a_method_is_called_by_its_type() {
    let methods = include_str!("../../../../tests/telemetry/methods.rs");
    let files = [("src/lib.rs", "mod methods;"), ("src/methods.rs", methods)];
    let listing = json(&written("telemetry", &files), &[]);
    let rows = listing["policies"].as_array().expect("rows");
    let mut names: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            row["operation"]
                .as_str()?
                .strip_prefix("telemetry::methods::")
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    let expected = [
        "Api::default",
        "Api::get",
        "Client::connect",
        "Client::get",
        "Client::later",
        "Other::get",
        "try::Plain::match",
        "try::get",
        "try::inside",
    ];
    assert_eq!(names, expected);
}
