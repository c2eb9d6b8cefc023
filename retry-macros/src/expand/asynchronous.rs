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

use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::quote_spanned;

use super::parts::Parts;
use retry_syntax::item::Answer;
use retry_syntax::model::{Model, at};

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
    let (prelude, context) = (parts.prelude(), parts.context());
    let entered = parts.entered();
    let attempted = parts.attempted(&parts.spanned(parts.hedged(attempt(&parts))));
    let (progress, uses, judged) = (parts.progress(), parts.uses(), parts.judged());
    let renewed = parts.renewed();
    let Step {
        bind,
        decided,
        wait,
    } = step(&parts);
    let (first, later) = parts.told_apart();
    let looped = ours! {
        loop {
            #entered
            #bind {
                #context
                #attempted
                #renewed
                #judged
                #decided
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

/// What follows a failure: the decision, where the attempt still is, and the wait, where it is gone.
struct Step {
    /// `let pause =`, unless the wait is part of the decision.
    bind: TokenStream,
    decided: TokenStream,
    wait: TokenStream,
}

fn step(parts: &Parts<'_>) -> Step {
    let (krate, timer, model) = (&parts.krate, &parts.timer, parts.model);
    let (operation, until, limits) = (parts.operation(), parts.until(), parts.limits());
    let (end, give_up, again) = (parts.end(), parts.give_up(), parts.entered_again());
    let over = ours!(::core::result::Result::Err((error, #end)) => break #give_up,);
    let give_up = ours!(::core::result::Result::Err(#end) => break #give_up,);
    let (asked, failed) = parts.failed();
    // Where the compiler says that a timer is none.
    let waits = model
        .timer
        .as_ref()
        .map_or_else(Span::mixed_site, syn::spanned::Spanned::span);
    let (waits, waiting) = (at(waits), model.krate_at(waits));
    let pause = quote_spanned! {waits=>
        #waiting::__private::pause(#krate::Retry::delay(&retry), #timer)
    };
    let (on_retry, stopped) = (parts.on_retry(), parts.if_stopped());
    // `before_retry` sees the error, and a call that is turned away ends with it; otherwise it is gone before the
    // wait, or kept.
    let hook = match parts.before_retry() {
        None if model.is_gated() => Some(TokenStream::new()),
        hook => hook.map(|hook| {
            let late = parts.if_late();
            ours!(#hook #late)
        }),
    };
    if let Some(hook) = hook {
        return Step {
            bind: TokenStream::new(),
            decided: ours!(#asked match #failed { ::core::result::Result::Ok(retry) => { #on_retry #pause.await; #stopped #hook #again } #give_up }),
            wait: TokenStream::new(),
        };
    }
    let (bind, kept, stopped, after) = if parts.keeps() {
        let kept = parts.kept();
        (
            ours!(let (pause, kept) =),
            Some(ours!(let kept = #kept;)),
            parts.if_stopped_keeping(),
            "pause_keeping",
        )
    } else {
        (ours!(let pause =), None, TokenStream::new(), "pause_after")
    };
    let (paused, given) = if kept.is_some() {
        (ours!((pause, error)), ours!((pause, kept)))
    } else {
        (ours!(pause), ours!(pause))
    };
    let decided = if parts.is_watched() {
        let value = if kept.is_some() {
            ours!(let pause = #pause; #kept #given)
        } else {
            pause
        };
        ours!(#asked match #failed { ::core::result::Result::Ok(retry) => { #on_retry #value } #give_up })
    } else {
        let after = Ident::new(after, waits);
        let after = parts.told_step().unwrap_or_else(|| {
            quote_spanned! {waits=>
                #waiting::__private::#after(error, &mut call, #operation, #until, #timer, verdict, #limits)
            }
        });
        let value = if kept.is_some() {
            ours!({ #kept #given })
        } else {
            given
        };
        ours!(match #after { ::core::result::Result::Ok(#paused) => #value, #over })
    };
    Step {
        bind,
        decided,
        wait: quote_spanned!(waits=> pause.await; #stopped #again),
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
