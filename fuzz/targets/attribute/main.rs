//! Whatever is written in an attribute, in a block or above an error type: an error, or an expansion that parses.
//!
//! `retry-macros` is a crate of macros, which nothing can link, so its files are compiled once more here: those that
//! need no compiler around them.
#![no_main]
#![allow(dead_code, reason = "what only a compiler or a test calls")]

#[macro_use(ours)]
extern crate reattempt_syntax;

#[path = "../../../retry-macros/src/classify/mod.rs"]
mod classify;
#[path = "../../../retry-macros/src/expand/mod.rs"]
mod expand;
#[path = "../../../retry-macros/src/instrument.rs"]
mod instrument;

mod input;
// Tables, several to a line.
#[rustfmt::skip]
mod tables;

use libfuzzer_sys::fuzz_target;
use proc_macro2::TokenStream;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Expr, File, Token};

use input::{Form, Input};

/// Whether the feature `config` of the facade is on: as the input says.
mod config {
    use std::cell::Cell;

    use reattempt_syntax::diagnostics::Diagnostics;
    use reattempt_syntax::model::Model;

    thread_local! {
        pub(crate) static ON: Cell<bool> = const { Cell::new(false) };
    }

    pub(crate) fn is_on() -> bool {
        ON.get()
    }

    /// What is said without the feature has tests.
    pub(crate) fn needed(_: &Model, _: &mut Diagnostics) {}
}

fuzz_target!(|input: Input<'_>| {
    config::ON.set(input.named);
    let Some((arguments, item)) = input.tokens() else {
        return;
    };
    match input.form {
        Form::Attribute => attribute(&arguments, &item),
        Form::Block => block(arguments, &item),
        Form::Classify => derived(item),
    }
});

/// The function, or what is left of it, is there in any case.
fn attribute(arguments: &TokenStream, item: &TokenStream) {
    let expanded = expand::attribute(arguments, item.clone());
    assert!(!expanded.is_empty());
    // A body may be what it likes: it is handed on as it is.
    if syn::parse2::<File>(item.clone()).is_ok() {
        parses::<File>(&expanded);
    }
}

fn block(arguments: TokenStream, body: &TokenStream) {
    let mut tokens = arguments;
    if !tokens.is_empty() {
        tokens.extend(quote::quote!(,));
    }
    tokens.extend(body.clone());
    let keys = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone());
    let expanded = expand::block(tokens);
    assert!(!expanded.is_empty());
    // An attribute inside of a closure's body is known to the compiler, and not to `syn`.
    if keys.is_ok() && !expanded.to_string().replace(' ', "").contains("#![") {
        parses::<Expr>(&expanded);
    }
}

fn derived(item: TokenStream) {
    let expanded = classify::derive(item);
    assert!(!expanded.is_empty());
    parses::<File>(&expanded);
}

fn parses<T: syn::parse::Parse>(tokens: &TokenStream) {
    if let Err(error) = syn::parse2::<T>(tokens.clone()) {
        panic!("{error} in {tokens}");
    }
}
