//! What an editor finds for the keys of an attribute.

use proc_macro2::TokenStream;
use reattempt_syntax::keys::KEYS;

use crate::expand::attribute;

fn named(arguments: &str) -> Option<String> {
    let arguments: TokenStream = arguments.parse().expect("tokens");
    let item = quote::quote!(
        fn fetch(url: &str) -> Result<u32, E> {
            Ok(1)
        }
    );
    let text = attribute(&arguments, item).to_string();
    let (_, behind) = text
        .split_once("keys ! (")
        .or_else(|| text.split_once("name ! (\"fetch\""))?;
    Some(behind.split_once(')')?.0.trim().to_owned())
}

#[test]
fn every_written_key_is_named() {
    let keys = named("max = 3, on(_), name = \"a\", crate = ::again");
    assert_eq!(keys.as_deref(), Some("max on name"));
    assert_eq!(named("max = 3, on(_)").as_deref(), Some("max on"));
    assert_eq!(named("").as_deref(), Some(""));
}

/// Beside its error, so that an editor offers what it may become.
#[test]
fn a_half_typed_key_is_named() {
    assert_eq!(named("max = 3, ba").as_deref(), Some("max ba"));
    assert_eq!(named("ba = ").as_deref(), Some("ba"));
}

#[test]
fn each_key_has_a_method_that_says_what_it_means() {
    let methods = include_str!("../../../src/__private/editor.rs");
    let table = include_str!("../../../crates/reattempt-policy/src/key.rs");
    for key in KEYS.iter().filter(|key| **key != "crate") {
        let is_code = methods.contains(&format!("\n    {key} \""));
        assert!(is_code || table.contains(&format!(" {key} ")), "{key}");
    }
}
