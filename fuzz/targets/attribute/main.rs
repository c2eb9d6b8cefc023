//! Whatever is written in an attribute, in a block or above an error type: an error, or an expansion that parses.
//!
//! `retry-macros` is a crate of macros, which nothing can link, so its files are compiled once more here: all but
//! `lib.rs`, the only one that needs a compiler around it.
#![no_main]
#![allow(dead_code, reason = "what only a compiler or a test calls")]

macro_rules! ours {
    ($($tokens:tt)*) => {
        ::quote::quote_spanned!(::proc_macro2::Span::mixed_site()=> $($tokens)*)
    };
}

#[path = "../../../retry-macros/src/args.rs"]
mod args;
#[path = "../../../retry-macros/src/check/mod.rs"]
mod check;
#[path = "../../../retry-macros/src/classify/mod.rs"]
mod classify;
#[path = "../../../retry-macros/src/expand/mod.rs"]
mod expand;
#[path = "../../../retry-macros/src/faults.rs"]
mod faults;
#[path = "../../../retry-macros/src/foreign/mod.rs"]
mod foreign;
#[path = "../../../retry-macros/src/item.rs"]
mod item;
#[path = "../../../retry-macros/src/keys.rs"]
mod keys;
#[path = "../../../retry-macros/src/literal/mod.rs"]
mod literal;
#[path = "../../../retry-macros/src/model.rs"]
mod model;
#[path = "../../../retry-macros/src/rename.rs"]
mod rename;

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

    thread_local! {
        pub(crate) static ON: Cell<bool> = const { Cell::new(false) };
    }

    pub(crate) fn is_on() -> bool {
        ON.get()
    }
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
