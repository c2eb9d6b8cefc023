//! The expansions of steps and workflows: small enough to read, and stable. And their
//! documentation.

mod documentation;
mod errors;
#[path = "../../../../retry-macros/src/tests/index.rs"]
mod index;
mod step;
mod workflow;

use expect_test::Expect;
use proc_macro2::TokenStream;

use crate::expand::{self, Expanded};
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::item::Function;

fn expanded(
    expand: fn(TokenStream, Function, &mut Diagnostics) -> Expanded,
    arguments: &str,
    item: &str,
    expected: &Expect,
) {
    let parse =
        |text: &str| -> TokenStream { text.parse().unwrap_or_else(|error| panic!("{error}")) };
    let tokens = expand::attribute(parse(arguments), parse(item), expand);
    let text = match syn::parse2(tokens.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(error) => panic!("{error} in {tokens}"),
    };
    expected.assert_eq(&text);
}
