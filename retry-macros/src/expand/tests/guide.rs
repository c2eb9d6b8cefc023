//! The listings of the guide: what stands there is what comes out. `UPDATE_EXPECT=1 cargo test -p retry-macros` takes it over.

use expect_test::{ExpectFile, expect_file};

use super::{parse, shown};

/// A function as the guide writes it, with its attribute in front.
fn listing(source: &str, expected: &ExpectFile) {
    let (attribute, item) = source.split_once('\n').unwrap_or_default();
    let arguments = attribute
        .strip_prefix("#[retry(")
        .and_then(|rest| rest.strip_suffix(")]"));
    let arguments = arguments.unwrap_or_else(|| panic!("no attribute: {attribute}"));
    expected.assert_eq(&shown(&crate::expand::attribute(
        &parse(arguments),
        parse(item),
    )));
}

macro_rules! guide {
    ($file:literal) => {
        concat!("../../../../docs/guide/src/expansion/", $file)
    };
}

#[test]
fn of_a_sync_function() {
    listing(
        include_str!(guide!("sync.in.rs")),
        &expect_file![guide!("sync.rs")],
    );
}

#[test]
fn of_an_async_function() {
    listing(
        include_str!(guide!("async.in.rs")),
        &expect_file![guide!("async.rs")],
    );
}
