//! A sync function: its body, and the runtime makes the retries.
//!
//! ```text
//! static SITE: Site = Site::new(NAME);
//! let mut body = CallStart::body(|| -> R BODY);           // `?` and `return` leave the attempt
//! let start = CallStart::now();
//! match split(body()) {
//!     Ok(answer) => answer,
//!     Err(error) => start.retried(CONTEXT, error, body, |error| (DESCRIBED, VERDICT), split, fail),
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
use reattempt_syntax::args::Predicate;
use reattempt_syntax::item::Answer;
use reattempt_syntax::model::{Model, at};
use reattempt_syntax::moves::Moves;
use syn::Expr;

pub(super) fn loop_of(model: &Model, answer: &Answer, body: &Group) -> TokenStream {
    let parts = Parts::blocking(model, answer);
    if is_bare(&parts) {
        return bare(&parts, body);
    }
    let found = parts.moves(body);
    let (entered, again) = (parts.entered(), parts.entered_again());
    let (krate, prelude) = (&parts.krate, parts.prelude());
    let (bound, attempted) = (
        parts.context_bound(),
        parts.attempted(&attempt(&parts, body, &found)),
    );
    let (progress, uses) = (parts.progress(), parts.uses());
    let (context, gates) = (parts.context(), parts.gates());
    let (end, give_up) = (parts.end(), parts.give_up());
    let (renewed, start) = (parts.renewed(), parts.attempt_start());
    let remembered = parts.remembered();
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
        }
    };
    let looped = parts.used_up(parts.answered(parts.unless_too_late(&looped)));
    let moved = parts.moved(&found);
    ours! {
        #uses
        #moved
        #prelude
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
        || model.may_have_deadline()
        || model.may_reset()
        || model.history.is_some()
        || parts.may_be_timed();
    let has_hooks = parts.has_cause() || model.fallback.is_some() || model.retry_after.is_some();
    let predicates = model.on.iter().chain(&model.except);
    let is_known = matches!(
        parts.answer,
        Answer::Result(_) | Answer::Option(_) | Answer::RetryError(..)
    );
    !has_limits
        && is_known
        && !has_hooks
        && model.context.is_none()
        && predicates.into_iter().all(captures_nothing)
        && model.timer.as_ref().is_none_or(is_constant)
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

/// Whether it is a path whose last name begins with a capital, which no variable's does.
fn is_constant(code: &Expr) -> bool {
    let Expr::Path(path) = code else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}

fn bare(parts: &Parts<'_>, body: &Group) -> TokenStream {
    let (krate, prelude, found) = (&parts.krate, parts.prelude(), parts.moves(body));
    let closure = parts.runs_again(&found, closure(parts, body));
    let failure = parts.failure_of(&ours!(error));
    let verdict = parts.judgement(&ours!(error));
    let (split, end, give_up) = (parts.splitter(), parts.end(), parts.give_up());
    let first = parts.split_of(&ours!(body()));
    // Where the compiler says that a timer is none: it points at the whole call.
    let span = parts.timer_span();
    let at_timer = parts.model.krate_at(span);
    let retried = parts.out_of_line(|context| {
        let arguments = ours!(#context, error, body, |error| (#failure, #verdict), #split, |error, #end| #give_up);
        quote_spanned!(at(span)=> #at_timer::__private::CallStart::retried(start, #arguments))
    });
    let called = ours! {{
        let mut body = #krate::__private::CallStart::body(#closure);
        let start = #krate::__private::CallStart::now();
        match #first {
            ::core::result::Result::Ok(answer) => answer,
            ::core::result::Result::Err(error) => #retried,
        }
    }};
    let called = parts.used_up(parts.answered(parts.unless_too_late(&called)));
    let moved = parts.moved(&found);
    ours!(#moved #prelude #called)
}

/// The closure stands where the body stands, for the compiler's messages.
fn closure(parts: &Parts<'_>, body: &Group) -> TokenStream {
    if let Some(form) = parts.form() {
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

fn attempt(parts: &Parts<'_>, body: &Group, found: &Moves) -> TokenStream {
    let closure = parts.runs_again(found, closure(parts, body));
    let (krate, context) = (&parts.krate, parts.attempt_context());
    let until = parts.until();
    // Where the compiler says that a timer is none: it points at the whole call.
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
