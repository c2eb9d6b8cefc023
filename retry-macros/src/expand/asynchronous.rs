//! The loop of an async function.
//!
//! ```text
//! let mut call = Count::new();
//! loop {
//!     let pause = {
//!         let outcome = async { BODY }.await;
//!         let error = match split(outcome) { Ok(answer) => break answer, Err(error) => error };
//!         match pause_after(&mut call, OPERATION, ..., VERDICT) {
//!             Ok(pause) => pause,
//!             Err(end) => break fail(error),
//!         }
//!     };                                    // the error is gone before the wait
//!     pause.await;
//! }
//! ```
//!
//! With hooks the step is taken apart: `failed`, `ON_RETRY`, `pause`, `BEFORE_RETRY`.

use proc_macro2::{Group, Span, TokenStream};
use quote::quote_spanned;
use retry_runtime::rules::Key;

use super::parts::{Parts, used};
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
    let parts = Parts::new(model, answer, "ASYNC_TIMER");
    let Parts { krate, timer, .. } = &parts;
    let prelude = parts.prelude();
    let context = parts.context();
    let (attempt, cut) = limited(&parts, &attempt(&parts));
    let (progress, uses) = (parts.progress(), parts.uses());
    let (apart, judged) = (parts.taken_apart(), parts.judged(settled(krate)));
    let (operation, until) = (parts.operation(), parts.until());
    let end = used(ours!(end), parts.wants_end());
    let give_up = parts.give_up();
    let over = parts.over(&end, &give_up);
    let give_up = ours!(::core::result::Result::Err(#end) => break #give_up,);
    let failed =
        ours!(#krate::__private::failed(&mut call, #operation, #until, #timer, cause, verdict));
    // Where the compiler says that a timer is none.
    let waits = model
        .timer
        .as_ref()
        .map_or_else(Span::mixed_site, syn::spanned::Spanned::span);
    let (waits, waiting) = (at(waits), model.krate_at(waits));
    let after = quote_spanned! {waits=>
        #waiting::__private::pause_after(&mut call, #operation, #until, #timer, verdict)
    };
    let pause = quote_spanned! {waits=>
        #waiting::__private::pause(#krate::Retry::delay(&retry), #timer)
    };
    let on_retry = parts.on_retry();
    // `before_retry` sees the error, which otherwise is gone before the wait.
    let (step, waits_inside) = match (parts.before_retry(settled(krate)), parts.has_hooks()) {
        (Some(hook), _) => (
            ours!(match #failed { ::core::result::Result::Ok(retry) => { #on_retry #pause.await; #hook #over } #give_up }),
            true,
        ),
        (None, true) => (
            ours!(match #failed { ::core::result::Result::Ok(retry) => { #on_retry #pause } #give_up }),
            false,
        ),
        (None, false) => (
            ours!(match #after { ::core::result::Result::Ok(pause) => pause, #give_up }),
            false,
        ),
    };
    let (bind, wait) = if waits_inside {
        (TokenStream::new(), TokenStream::new())
    } else {
        (ours!(let pause =), quote_spanned!(waits=> pause.await;))
    };
    let looped = ours! {
        loop {
            #bind {
                #context
                let outcome = #attempt.await;
                #cut
                #apart
                #judged
                #step
            };
            #wait
        }
    };
    let looped = parts.used_up(parts.with_fallback(looped, settled(krate)));
    ours! {
        #uses
        #prelude
        #progress
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

/// With a deadline of its own the attempt is cut off when the time is over.
fn limited(parts: &Parts<'_>, attempt: &TokenStream) -> (TokenStream, TokenStream) {
    let whole = parts.model.until.is_some()
        && matches!(parts.answer, Answer::Other(_) | Answer::Unknown(_));
    if !parts.model.has(Key::Deadline) || whole {
        return (attempt.clone(), TokenStream::new());
    }
    let Parts {
        krate, timer_kept, ..
    } = parts;
    let span = parts.model.error_span;
    let located = parts.model.krate_at(span);
    let cut = quote_spanned!(at(span)=> #located::__private::cut(end));
    (
        ours!(#krate::__private::limited(#attempt, until, #timer_kept)),
        ours! {
            let outcome = match outcome {
                ::core::option::Option::Some(outcome) => outcome,
                ::core::option::Option::None => {
                    let end = #krate::__private::cut_off(&call);
                    break #cut
                }
            };
        },
    )
}

/// What a hook gave: a future is awaited, anything else is taken as it is.
fn settled(krate: &TokenStream) -> impl Fn(TokenStream) -> TokenStream {
    move |reply| {
        let span = at(syn::spanned::Spanned::span(&reply));
        quote_spanned! {span=> {
            use #krate::__private::{SettleFuture as _, SettleValue as _};
            #krate::__private::Reply(::core::option::Option::Some(#reply)).reattempt_settle().await
        }}
    }
}
