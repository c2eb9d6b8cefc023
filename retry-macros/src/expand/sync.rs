//! A sync function: its body, and the runtime makes the retries.
//!
//! ```text
//! static SITE: Site = Site::new(NAME);
//! let mut body = CallStart::body(|| -> R BODY);           // `?` and `return` leave the attempt
//! let begun = CallStart::now();
//! match split(body()) {
//!     Ok(answer) => answer,
//!     Err(error) => begun.retried(CONTEXT, error, body, |error| DESCRIBED, |error| VERDICT, split, fail),
//! }
//! ```
//!
//! With a limit, a hook, or code of the user that may borrow what the body does, it is a loop.
//!
//! ```text
//! let mut call = LiveCall::new(());
//! loop {
//!     let outcome = call.attempt(|| -> R BODY);
//!     let error = match split(outcome) { Ok(answer) => break call.succeeded(answer, ..), Err(error) => error };
//!     match call.retry(CONTEXT, GATES, || (DESCRIBED, VERDICT)) {     // decides and waits
//!         Ok(()) => {}
//!         Err(end) => break fail(error),
//!     }
//! }
//! ```
//!
//! With hooks or `until` the step is taken apart: `failed`, `ON_RETRY`, `wait`, `BEFORE_RETRY`.

use proc_macro2::{Group, TokenStream};
use quote::quote_spanned;

use super::parts::Parts;
use super::policy::is_item;
use reattempt_syntax::args::Predicate;
use reattempt_syntax::item::Answer;
use reattempt_syntax::model::{Model, at};
use syn::Expr;

pub(super) fn loop_of(model: &Model, answer: &Answer, body: &Group) -> TokenStream {
    let parts = Parts::blocking(model, answer);
    let looped = if is_bare(&parts) {
        bare(&parts, body)
    } else if is_quick(&parts) {
        quick(&parts, body)
    } else {
        in_one(&parts, body)
    };
    let borrow = parts.answer_borrow();
    ours!(#borrow #looped)
}

/// A loop that asks all that the policy may say, around each attempt in its place.
fn in_one(parts: &Parts<'_>, body: &Group) -> TokenStream {
    let found = parts.moves(body);
    let attempt = attempt(parts, parts.runs_again(&found, closure(parts, body)));
    let (moved, prelude) = (parts.moved(&found), parts.prelude());
    let full = full(parts, &attempt);
    let looped = parts.used_up(if parts.model.clone.is_empty() {
        full
    } else {
        ours!({ #full })
    });
    ours!(#moved #prelude #looped)
}

/// A loop around `attempt`, which asks all that the policy may say.
fn full(parts: &Parts<'_>, attempt: &TokenStream) -> TokenStream {
    let (entered, again) = (parts.entered(), parts.entered_again());
    let krate = &parts.krate;
    let (bound, attempted) = (parts.context_bound(), parts.attempted(attempt, None));
    let (begun, progress, uses) = (parts.call_start(), parts.progress(), parts.uses());
    let (context, gates) = (parts.context(), parts.gates());
    let (end, give_up) = (parts.end(), parts.give_up());
    let (renewed, start) = (parts.renewed(), parts.attempt_start());
    let (remembered, not_plain) = (parts.remembered(), parts.no_longer_plain());
    // Code of the user between the decision and the wait takes them apart; otherwise they are one
    // cold call.
    let step = if parts.is_watched() {
        let (on_retry, before_retry) = (parts.on_retry(), parts.before_retry());
        let (judged, (failure, failed)) = (parts.judged(), parts.failed());
        let wait = parts.at_timer("wait");
        ours! {
            #judged
            #failure
            match #failed {
                ::core::result::Result::Ok(retry) => {
                    #on_retry
                    let delay = #krate::Retry::delay(&retry);
                    if let ::core::result::Result::Err(#end) = (&mut call).#wait(#context, delay) {
                        break #give_up;
                    }
                    #before_retry
                    #again
                }
                ::core::result::Result::Err(#end) => break #give_up,
            }
        }
    } else {
        let (judged, assess) = parts.assessed();
        let retry = parts.at_timer("retry");
        let retry =
            parts.out_of_line(|context| ours!((&mut call).#retry(#context, #gates, assess)));
        ours! {
            #judged
            let assess = #assess;
            match #retry {
                ::core::result::Result::Ok(()) => { #again }
                ::core::result::Result::Err(#end) => break #give_up,
            }
        }
    };
    let looped = ours! {
        loop {
            #entered
            #start
            #bound
            #attempted
            #renewed
            #step
            #remembered
            #not_plain
        }
    };
    let looped = parts.answered(parts.unless_too_late(&looped));
    ours! {
        #uses
        #begun
        #progress
        #looped
    }
}

/// Whether nothing but the policy and the verdict follows an attempt, and none of the user's code that might borrow what
/// the body does: then the body is one closure, and the runtime makes the retries.
fn is_bare(parts: &Parts<'_>) -> bool {
    let model = parts.model;
    let has_limits = model.is_limited()
        || model.is_running()
        || model.may_have_bounds()
        || model.may_reset()
        || parts.may_be_timed();
    !has_limits && runs_alone(parts)
}

/// Whether that is so unless the policy of the running program says more.
fn is_quick(parts: &Parts<'_>) -> bool {
    let model = parts.model;
    let may_say_more = !model.is_gated() && !model.brings_budget() && model.map_err.is_none();
    parts.asks_once && may_say_more && parts.is_policy_shared() && runs_alone(parts)
}

/// Whether none of the user's code but the body and the verdict is a part of the loop.
fn runs_alone(parts: &Parts<'_>) -> bool {
    let model = parts.model;
    let has_hooks = parts.has_cause() || model.fallback.is_some() || model.retry_after.is_some();
    let predicates = model.on.iter().chain(&model.except);
    let is_known = matches!(
        parts.answer,
        // `Unknown` too: whether an alias is a `Result` the compiler says, by the choice of
        // methods.
        Answer::Result(_) | Answer::Option(_) | Answer::RetryError(..) | Answer::Unknown(_)
    );
    is_known
        && !has_hooks
        && model.history.is_none()
        && model.context.is_none()
        && predicates.into_iter().all(captures_nothing)
        && model.timer.as_ref().is_none_or(is_item)
}

/// Whether it is no code of the user's that may change what it captures: a path is at most read.
fn captures_nothing(predicate: &Predicate) -> bool {
    match predicate {
        // The condition behind an `if` may.
        Predicate::Pattern(pattern) => !pattern
            .clone()
            .into_iter()
            .any(|token| token.to_string() == "if"),
        Predicate::Code(code) => matches!(code, Expr::Path(_)),
    }
}

fn bare(parts: &Parts<'_>, body: &Group) -> TokenStream {
    let (prelude, found) = (parts.prelude(), parts.moves(body));
    let closure = parts.runs_again(&found, closure(parts, body));
    let krate = &parts.krate;
    let called = first(parts, |retried| parts.out_of_line(retried));
    // `FnMut` by the bound of `body`, so a parameter that the body moves is an error at the user's
    // line. One closure for all attempts, since no other code of the user stands between them.
    let called = ours!({ let mut body = #krate::__private::CallStart::body(#closure); #called });
    let called = parts.used_up(parts.answered(parts.unless_too_late(&called)));
    let moved = parts.moved(&found);
    ours!(#moved #prelude #called)
}

/// A first attempt, `body`, after which the runtime makes the retries.
fn first(
    parts: &Parts<'_>,
    in_context: impl FnOnce(&dyn Fn(TokenStream) -> TokenStream) -> TokenStream,
) -> TokenStream {
    let krate = &parts.krate;
    let failure = parts.failure_of(&ours!(error));
    let verdict = parts.judgement(&ours!(error));
    let (split, end, give_up) = (parts.splitter(), parts.end(), parts.give_up());
    let first = parts.split_of(&ours!(body()));
    // Here the compiler reports an expression that is not a timer, and points at the whole call.
    let span = parts.timer_span();
    let at_timer = parts.model.krate_at(span);
    let retried = in_context(&|context| {
        let arguments = ours!(#context, error, body, |error| #failure, |error| #verdict, #split, |error, #end| #give_up);
        quote_spanned!(at(span)=> #at_timer::__private::CallStart::retried(begun, #arguments))
    });
    let answered = parts.answered_at_once(&ours!(answer));
    ours! {
        let begun = #krate::__private::CallStart::now();
        match #first {
            ::core::result::Result::Ok(answer) => #answered,
            ::core::result::Result::Err(error) => #retried,
        }
    }
}

/// The same where the policy of the running program has nothing to say before something fails, and else all of the loop,
/// out of line.
fn quick(parts: &Parts<'_>, body: &Group) -> TokenStream {
    let (krate, prelude, found) = (&parts.krate, parts.prelude(), parts.moves(body));
    let closure = parts.runs_again(&found, closure(parts, body));
    let span = parts.timer_span();
    let (at_timer, timer) = (parts.model.krate_at(span), &parts.timer);
    // A policy with a name is looked up again after each failure, which a closure that borrows it
    // could not do.
    let contexts = if parts.model.named.is_some() {
        quote_spanned!(at(span)=> #at_timer::__private::NamedSite(&__REATTEMPT_SITE, #timer))
    } else {
        let context = parts.context();
        ours!(|| #context)
    };
    let first = parts.unless_too_late(&first(parts, |retried| retried(contexts)));
    let asking = Parts {
        asks_once: false,
        ..parts.clone()
    };
    // Few policies have anything to say before a failure, so all of that is out of line.
    let full = full(&asking, &attempt(&asking, ours!(&mut body)));
    let called = parts.used_up(ours! {{
        let mut body = #krate::__private::CallStart::body(#closure);
        if plain {
            let (until, start) = (#krate::__private::Until::NEVER, #krate::__private::AttemptStart::<0>::NONE);
            #first
        } else {
            #krate::__private::in_full(|| { #full })
        }
    }});
    let moved = parts.moved(&found);
    ours!(#moved #prelude #called)
}

/// The closure stands where the body stands, for the compiler's messages.
fn closure(parts: &Parts<'_>, body: &Group) -> TokenStream {
    if let Some(form) = parts.form() {
        // The dead return gives the closure its type, which cannot be written here.
        let (span, statements) = (at(body.span()), parts.statements(body));
        return quote_spanned! {span=> || {
            if let ::core::option::Option::Some(outcome) = (#form).never() {
                return outcome;
            }
            #statements
        }};
    }
    let ty = parts.answer.spoken();
    let body = if parts.model.clone.is_empty() {
        ours!(#body)
    } else {
        let statements = parts.statements(body);
        ours!({ #statements })
    };
    quote_spanned!(at(body_span(&body))=> || -> #ty #body)
}

fn attempt(parts: &Parts<'_>, closure: TokenStream) -> TokenStream {
    // A new closure for each attempt, so that `before_retry` may borrow `self` mutably between two
    // of them.
    let (krate, context) = (&parts.krate, parts.attempt_context());
    let until = parts.until();
    // Here the compiler reports an expression that is not a timer, and points at the whole call.
    let span = parts.timer_span();
    let at_timer = parts.model.krate_at(span);
    let run = |closure| quote_spanned!(at(span)=> #at_timer::__private::LiveCall::attempt(&mut call, #until, #context, #closure));
    if parts.may_be_timed() {
        parts.with_span(closure, |closure| {
            run(ours!(|| #krate::__private::in_span(&span, #closure)))
        })
    } else {
        run(closure)
    }
}

fn body_span(body: &TokenStream) -> proc_macro2::Span {
    syn::spanned::Spanned::span(body)
}
