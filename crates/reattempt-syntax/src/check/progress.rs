//! `attempt.progress()` in the body: such a call may start anew after each attempt.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use retry_runtime::rules::{Key, Keys, restarts};

use crate::diagnostics::Diagnostics;
use crate::model::Model;

const READ: &[Key] = &[
    Key::Max,
    Key::Backoff,
    Key::Base,
    Key::First,
    Key::Factor,
    Key::Cap,
    Key::Jitter,
    Key::Deadline,
    Key::Budget,
];

/// Notes where the body says it, and refuses a policy that nothing else bounds. An attempt that the body hands on is judged
/// by the running program.
pub(crate) fn said(model: &mut Model, body: TokenStream, faults: &mut Diagnostics) {
    let Some(attempt) = &model.context else {
        return;
    };
    model.progress = place(body, attempt);
    let is_known = model.inherited.is_none()
        && model.named.is_none()
        && model.strategy.is_none()
        && !model.unknown.intersects(Keys::of(READ));
    if let (Some(place), true) = (model.progress, is_known)
        && let Some(violation) = restarts(&model.known)
    {
        faults.push(place, violation.rule(), violation.message());
    }
}

/// The word behind `attempt.`.
fn place(body: TokenStream, attempt: &Ident) -> Option<Span> {
    let tokens: Vec<_> = body.into_iter().collect();
    let said = tokens.windows(3).find_map(|window| match window {
        [TokenTree::Ident(name), TokenTree::Punct(dot), TokenTree::Ident(word)] => {
            (name == attempt && dot.as_char() == '.' && word == "progress").then(|| word.span())
        }
        _ => None,
    });
    said.or_else(|| {
        tokens.into_iter().find_map(|token| match token {
            TokenTree::Group(group) => place(group.stream(), attempt),
            _ => None,
        })
    })
}
