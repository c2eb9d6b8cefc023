//! The loop of an async function.
//!
//! ```text
//! let mut call = Count::new();
//! let mut first = true;
//! loop {
//!     let pause = {
//!         let attempt = async { BODY };
//!         let error = if first {                            // the same twice, but for `again`
//!             match split(attempt.await) { Ok(answer) => break answer, Err(error) => error }
//!         } else {
//!             match split(again(attempt, call).await) { ... }
//!         };
//!         match pause_after(error, &mut call, OPERATION, ..., VERDICT) {
//!             Ok(pause) => pause,
//!             Err((error, end)) => break fail(error),
//!         }
//!     };                                    // the error is gone before the wait
//!     pause.await;
//!     first = false;
//! }
//! ```
//!
//! With hooks or `until` the step is taken apart: `failed`, `ON_RETRY`, `pause`,
//! `BEFORE_RETRY`. With a limit in time the attempt is `limited(async { BODY }, ...)`.

use proc_macro2::{Group, Span, TokenStream};
use quote::quote_spanned;

use super::parts::Parts;
use crate::item::Answer;
use crate::model::{Model, at};

pub(super) fn loop_of(model: &Model, answer: &Answer, body: &Group) -> TokenStream {
    looped(model, answer, |parts| attempt(parts, body))
}

/// A loop around the future that `attempt` makes.
pub(super) fn looped(
    model: &Model,
    answer: &Answer,
    attempt: impl Fn(&Parts<'_>) -> TokenStream,
) -> TokenStream {
    let parts = Parts::asynchronous(model, answer);
    let Parts { krate, timer, .. } = &parts;
    let prelude = parts.prelude();
    let context = parts.context();
    let (entered, again, limits) = (parts.entered(), parts.entered_again(), parts.limits());
    let attempted = parts.attempted(&parts.hedged(attempt(&parts)));
    let (progress, uses, judged) = (parts.progress(), parts.uses(), parts.judged());
    let (operation, until) = (parts.operation(), parts.until());
    let (end, give_up) = (parts.end(), parts.give_up());
    let over = ours!(::core::result::Result::Err((error, #end)) => break #give_up,);
    let give_up = ours!(::core::result::Result::Err(#end) => break #give_up,);
    let (decided, failed) = parts.failed();
    // Where the compiler says that a timer is none.
    let waits = model
        .timer
        .as_ref()
        .map_or_else(Span::mixed_site, syn::spanned::Spanned::span);
    let (waits, waiting) = (at(waits), model.krate_at(waits));
    let after = parts.told_step().unwrap_or_else(|| {
        quote_spanned! {waits=>
            #waiting::__private::pause_after(error, &mut call, #operation, #until, #timer, verdict, #limits)
        }
    });
    let pause = quote_spanned! {waits=>
        #waiting::__private::pause(#krate::Retry::delay(&retry), #timer)
    };
    let (on_retry, late) = (parts.on_retry(), parts.if_late());
    // `before_retry` sees the error, and a call that is turned away ends with it; otherwise it is gone before the
    // wait.
    let hook = parts.before_retry();
    let hook = match hook {
        None if model.is_gated() => Some(TokenStream::new()),
        hook => hook.map(|hook| ours!(#hook #late)),
    };
    let (step, waits_inside) = match (hook, parts.is_watched()) {
        (Some(hook), _) => (
            ours!(#decided match #failed { ::core::result::Result::Ok(retry) => { #on_retry #pause.await; #hook #again } #give_up }),
            true,
        ),
        (None, true) => (
            ours!(#decided match #failed { ::core::result::Result::Ok(retry) => { #on_retry #pause } #give_up }),
            false,
        ),
        (None, false) => (
            ours!(match #after { ::core::result::Result::Ok(pause) => pause, #over }),
            false,
        ),
    };
    let (bind, wait) = if waits_inside {
        (TokenStream::new(), TokenStream::new())
    } else {
        (
            ours!(let pause =),
            quote_spanned!(waits=> pause.await; #again),
        )
    };
    let (first, later) = parts.told_apart();
    let looped = ours! {
        loop {
            #entered
            #bind {
                #context
                #attempted
                #judged
                #step
            };
            #wait
            #later
        }
    };
    let looped = parts.used_up(parts.with_fallback(looped));
    ours! {
        #uses
        #prelude
        #progress
        #first
        #looped
    }
}

/// One attempt. Its type is told by a return that is never taken, so that `?`
/// and `into` in the body know where to go.
fn attempt(parts: &Parts<'_>, body: &Group) -> TokenStream {
    let (krate, statements) = (&parts.krate, parts.statements(body));
    let typed = match parts.answer {
        Answer::Inferred => TokenStream::new(),
        answer => {
            let ty = answer.spoken();
            ours! {
                if let ::core::option::Option::Some(outcome) = #krate::__private::never::<#ty>() {
                    return outcome;
                }
            }
        }
    };
    let start = at(body.span_open());
    quote_spanned!(start=> async { #typed #statements })
}
