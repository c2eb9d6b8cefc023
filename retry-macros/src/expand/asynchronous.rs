//! The loop of an async function.
//!
//! ```text
//! let mut pending = Pending::new();
//! loop {
//!     pending = {
//!         let (outcome, mut back) = attempt_async(pending, async { BODY }).await;
//!         let Some(cause) = failure(&outcome) else { break outcome };
//!         match back.failed(OPERATION, ..., cause, VERDICT) {
//!             Ok(retry) => { ON_RETRY }
//!             Err(end) => break outcome,
//!         }
//!         back
//!     };                                    // the outcome is gone before the wait
//!     pending = pause(pending, TIMER).await;
//! }
//! ```
//!
//! Only `back` is ever borrowed: a borrowed local keeps its place in the future
//! even while it is moved out of, and `pending` would take its eight bytes twice.

use proc_macro2::{Group, TokenStream};
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
    let parts = Parts::new(model, answer, "async_timer");
    let Parts { krate, timer, .. } = &parts;
    let prelude = parts.prelude();
    let context = parts.context(&ours!(pending.failures()));
    let (attempt, cut) = limited(&parts, &attempt(&parts));
    let (cause, judged) = (parts.cause(), parts.judged(settled(krate)));
    let (operation, until) = (parts.operation(), parts.until());
    let on_retry = parts.on_retry();
    let retry = used(ours!(retry), parts.has_hooks());
    let end = used(ours!(end), parts.wants_end());
    let (success, give_up) = (parts.success(), parts.give_up());
    let pause = |pending| ours!(#pending = #krate::__private::pause(#pending, &#timer).await;);
    // `before_retry` sees the error, which otherwise is gone before the wait.
    let (inside, outside) = match parts.before_retry() {
        Some(hook) => {
            let settle = settled(krate)(hook);
            let pause = pause(ours!(back));
            (ours!(#pause let () = #settle;), TokenStream::new())
        }
        None => (TokenStream::new(), pause(ours!(pending))),
    };
    let looped = ours! {
        loop {
            pending = {
                #context
                let (outcome, mut back) = #krate::__private::attempt_async(pending, #attempt).await;
                #cut
                let cause = match #cause {
                    ::core::option::Option::Some(cause) => cause,
                    ::core::option::Option::None => #success,
                };
                #judged
                match back.failed(#operation, #until, &#timer, cause, verdict) {
                    ::core::result::Result::Ok(#retry) => { #on_retry #inside }
                    ::core::result::Result::Err(#end) => break #give_up,
                }
                back
            };
            #outside
        }
    };
    let looped = parts.with_fallback(looped, settled(krate));
    ours! {
        #prelude
        let mut pending = #krate::__private::Pending::new();
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
    let Parts { krate, timer, .. } = parts;
    let span = parts.model.error_span;
    let located = parts.model.krate_at(span);
    let cut = quote_spanned!(at(span)=> #located::__private::cut(back.cut_off()));
    (
        ours!(#krate::__private::limited(#attempt, until, #timer)),
        ours! {
            let ::core::option::Option::Some(outcome) = outcome else { break #cut };
        },
    )
}

/// What a hook gave: a future is awaited, anything else is taken as it is.
fn settled(krate: &TokenStream) -> impl Fn(TokenStream) -> TokenStream {
    move |reply| {
        ours!({
            use #krate::__private::{SettleFuture as _, SettleValue as _};
            #krate::__private::Reply(::core::option::Option::Some(#reply)).settle().await
        })
    }
}
