//! A function: which loop, and around what.
//!
//! ```text
//! #[retry(max = 5, on(_))]            fn fetch(url: &str) -> Result<Page, E> {
//! fn fetch(url: &str) -> ... {            let mut call = ...;
//!     BODY                       ->       loop { ... one attempt of BODY ... }
//! }                                   }
//! ```

use proc_macro2::{Group, TokenStream, TokenTree};

use syn::{Ident, Signature};

use super::{asynchronous, docs, future, limits, sync};
use crate::instrument::{self, braces};
use reattempt_syntax::async_block::AsyncBlock;
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::item::{Answer, Flow, Function};
use reattempt_syntax::model::Model;
use reattempt_syntax::moves::SetBy;
use reattempt_syntax::{args, async_trait, check, escape, item};

/// `set` is what fixes the signature of a method, as far as its `impl` block shows.
pub(super) fn expand(
    arguments: TokenStream,
    function: Function,
    set: Option<SetBy>,
) -> Result<TokenStream, Diagnostics> {
    let mut faults = Diagnostics::default();
    let keys = arguments.clone();
    let arguments = args::parse(arguments, &mut faults);
    let (flow, answer) = item::flow(&function.signature);
    let answer = answer.as_ref().map_or(Answer::Inferred, Answer::of);
    let model = check::function(arguments, &function, &answer, &flow, &mut faults);
    // All faults of the stage at once, each at its value.
    let mut model = faults.finish(model)?;
    model.keys = super::words(&keys);
    model.set_by = set.unwrap_or(model.set_by);

    let Function {
        attributes,
        visibility,
        mut signature,
        body,
        ..
    } = function;
    let Some(body) = body else {
        return Ok(TokenStream::new()); // refused above
    };
    let (inner, statements) = item::inner_attributes(body.stream());
    item::without_mut(&mut signature, &model.clone);
    // What another key names is borrowed by others too, and copies of an attempt share all of it.
    if model.hedge.is_none() {
        let keys = without_clone(keys);
        let is_shared = |name: &Ident| item::names(&keys, name) || !item::names(&statements, name);
        let unborrowed = |ty| escape::unborrowed(&signature, ty);
        let mut references = answer.ty().map_or_else(Vec::new, unborrowed);
        references.retain(|name| !is_shared(name));
        match flow {
            // `mut` in the signature, for the mutable borrow in `Parts::borrowed`.
            Flow::Async => {
                model.borrowed = item::made_mut(&mut signature, is_shared);
                model.reborrowed = references;
            }
            Flow::Future { boxed } => {
                let whole = braces(&body, statements.clone());
                let tokens: Vec<_> = statements.clone().into_iter().collect();
                let moved = async_trait::moved(&whole);
                let block = AsyncBlock::retried(&tokens, boxed).filter(AsyncBlock::is_move);
                if let Some(block) = block.filter(|_| moved.is_empty()) {
                    // Of what has fields the block takes those that it names. What stands in front of it may bind the name anew.
                    let inside = block.block.stream();
                    let before = block.before.iter().cloned().collect();
                    let is_shared = |name: &Ident| {
                        is_shared(name)
                            || !escape::uses_whole(name, &inside)
                            || item::names(&before, name)
                    };
                    references.retain(|name| !is_shared(name));
                    model.borrowed = item::made_mut(&mut signature, is_shared);
                    model.reborrowed = references;
                } else {
                    let owned = item::made_mut(&mut signature.clone(), is_shared);
                    // What the keys call `self` has another name in the future.
                    let moved_of = |names: &[Ident]| {
                        let is_one = |moved: &&Ident| {
                            let declared =
                                |name| *moved == name || *moved == "__self" && name == "self";
                            names.iter().any(declared)
                        };
                        moved.iter().filter(is_one).cloned().collect()
                    };
                    model.borrowed = moved_of(&owned);
                    model.reborrowed = moved_of(&references);
                }
            }
            Flow::Sync => {}
        }
    }
    let mut retried = |body: &Group| body_of(&model, &signature, &flow, &answer, body);
    let whole = braces(&body, statements.clone());
    // What `#[tracing::instrument]` wrote around the body stays outside of the loop: one span for
    // the whole call, and its wrapper moves what it moves once.
    let expanded = if matches!(flow, Flow::Future { .. }) && ends_in_block(&whole) {
        retried(&whole)
    } else {
        instrument::inside(statements, &mut retried).unwrap_or_else(|| retried(&whole))
    };
    // With the span of the user's braces: else lints take the whole function
    // for the expansion of a foreign macro.
    let expanded = braces(&body, expanded);
    let docs = docs::lines(&model);
    Ok(ours! {
        #(#attributes)*
        #(#inner)*
        #docs
        #visibility #signature #expanded
    })
}

/// The keys without `clone(..)`, which an attempt alone borrows.
fn without_clone(keys: TokenStream) -> TokenStream {
    let (mut is_start, mut is_clone) = (true, false);
    let is_kept = |token: &TokenTree| {
        let is_list = is_clone && matches!(token, TokenTree::Group(_));
        is_clone = is_start && matches!(token, TokenTree::Ident(word) if word == "clone");
        is_start = matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',');
        !is_list
    };
    keys.into_iter().filter(is_kept).collect()
}

/// Whether a body ends with the async block that is the future.
fn ends_in_block(body: &Group) -> bool {
    AsyncBlock::of(&body.stream().into_iter().collect::<Vec<_>>()).is_some()
}

fn body_of(
    model: &Model,
    signature: &Signature,
    flow: &Flow,
    answer: &Answer,
    body: &Group,
) -> TokenStream {
    match flow {
        Flow::Sync => limits::sharing(model, sync::loop_of(model, answer, body)),
        Flow::Async => limits::sharing(model, asynchronous::loop_of(model, answer, body)),
        Flow::Future { boxed } => future::expand(model, signature, answer, body, *boxed),
    }
}

/// A function whose policy was refused, without the faults: where the body was
/// written for the expansion (`RetryError`, `context`, `map_err`), it would add errors of its own.
pub(super) fn standing(arguments: &TokenStream, item: TokenStream) -> TokenStream {
    let Ok(function) = syn::parse2::<Function>(item.clone()) else {
        return item;
    };
    let (flow, answer) = item::flow(&function.signature);
    let typed = answer
        .as_ref()
        .is_some_and(|ty| matches!(Answer::of(ty), Answer::RetryError(..)));
    // Looked for among the tokens, because what was refused need not parse.
    let bound = arguments
        .clone()
        .into_iter()
        .any(|token| matches!(&*token.to_string(), "context" | "map_err"));
    let keeps = !(typed || bound) || matches!(flow, Flow::Future { .. });
    let Function {
        attributes,
        visibility,
        signature,
        body,
        ..
    } = function;
    let Some(body) = body else {
        return item;
    };
    // A second `#[retry]` would report the same faults again.
    let attributes = attributes.iter().filter(|other| !item::is_retry(other));
    if keeps {
        let keys = super::keys(&ours!(::reattempt), &super::words(arguments));
        let statements = body.stream();
        let (inner, statements) = item::inner_attributes(statements);
        // What only a key names was used there.
        let named = item::parameters(&signature)
            .into_iter()
            .map(|(name, _)| name);
        let named = named.filter(|name| name != "self" && is_named(arguments, name));
        let used = named.map(|name| ours!(let _ = &#name;));
        let body = braces(&body, ours!(#(#inner)* #keys #(#used)* #statements));
        return ours!(#(#attributes)* #visibility #signature #body);
    }
    // Named, so that none counts as unused.
    let parameters = item::parameters(&signature);
    let parameters = parameters.iter().map(|(name, _)| name);
    ours! {
        #(#attributes)*
        #visibility #signature {
            let _ = (#(&#parameters,)*);
            ::core::panic!()
        }
    }
}

/// Whether the keys name a parameter, be it in a text that is formatted.
fn is_named(keys: &TokenStream, name: &Ident) -> bool {
    item::names(keys, name) || keys.to_string().contains(&format!("{{{name}"))
}
