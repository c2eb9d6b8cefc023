//! `attempt.progress()` in the body: such a call may start anew after each attempt.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use reattempt_policy::rules::{Key, Keys, restarts};

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
pub(crate) fn find(model: &mut Model, body: TokenStream, faults: &mut Diagnostics) {
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
    let mut read = 0;
    for token in body {
        read = match (read, token) {
            (2, TokenTree::Ident(word)) if word == "progress" => return Some(word.span()),
            (_, TokenTree::Ident(name)) if name == *attempt => 1,
            (1, TokenTree::Punct(dot)) if dot.as_char() == '.' => 2,
            (_, TokenTree::Group(group)) => match place(group.stream(), attempt) {
                None => 0,
                said => return said,
            },
            _ => 0,
        };
    }
    None
}
