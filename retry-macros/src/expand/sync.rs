//! The loop of a sync function.
//!
//! ```text
//! let mut call = Count::new();
//! loop {
//!     let outcome = attempt(call, || -> R BODY);          // `?` and `return` leave the attempt
//!     let error = match split(outcome) { Ok(answer) => break answer, Err(error) => error };
//!     match wait(&mut call, OPERATION, ..., VERDICT) {
//!         Ok(()) => {}
//!         Err(end) => break fail(error),
//!     }
//! }
//! ```
//!
//! With hooks or `until` the step is taken apart: `failed`, `ON_RETRY`, `sleep`,
//! `BEFORE_RETRY`.

use proc_macro2::{Group, TokenStream};
use quote::quote_spanned;

use super::parts::Parts;
use retry_syntax::item::Answer;
use retry_syntax::model::{Model, at};

pub(super) fn loop_of(model: &Model, answer: &Answer, body: &Group) -> TokenStream {
    let parts = Parts::blocking(model, answer);
    let Parts { krate, timer, .. } = &parts;
    let (entered, again, limits) = (parts.entered(), parts.entered_again(), parts.limits());
    let prelude = parts.prelude();
    let context = parts.context();
    let attempted = parts.attempted(&attempt(&parts, body));
    let (progress, uses, judged) = (parts.progress(), parts.uses(), parts.judged());
    let (operation, until) = (parts.operation(), parts.until());
    let (end, give_up) = (parts.end(), parts.give_up());
    let (inside, enter) = parts.told_apart();
    let renewed = parts.renewed();
    let wait = parts.step("wait");
    let step = if parts.is_watched() {
        let (on_retry, before_retry) = (parts.on_retry(), parts.before_retry());
        let (stopped, late) = (parts.if_stopped(), parts.if_late());
        let (decided, failed) = parts.failed();
        ours! {
            #decided
            match #failed {
                ::core::result::Result::Ok(retry) => {
                    #on_retry
                    #krate::__private::sleep(#krate::Retry::delay(&retry), #timer);
                    #stopped
                    #before_retry
                    #late
                    #again
                    #enter
                }
                ::core::result::Result::Err(#end) => break #give_up,
            }
        }
    } else {
        ours! {
            match #krate::__private::#wait(&mut call, #operation, #until, #timer, verdict, #limits) {
                ::core::result::Result::Ok(()) => { #again #enter }
                ::core::result::Result::Err(#end) => break #give_up,
            }
        }
    };
    let looped = ours! {
        loop {
            #entered
            #context
            #attempted
            #renewed
            #judged
            #step
        }
    };
    let looped = parts.used_up(parts.with_fallback(looped));
    ours! {
        #uses
        #prelude
        #progress
        #inside
        #looped
    }
}

/// The closure stands where the body stands, for the compiler's messages.
fn attempt(parts: &Parts<'_>, body: &Group) -> TokenStream {
    let krate = &parts.krate;
    let ty = parts.answer.spoken();
    let body = if parts.model.clone.is_empty() {
        ours!(#body)
    } else {
        let statements = parts.statements(body);
        ours!({ #statements })
    };
    let closure = quote_spanned!(at(body_span(&body))=> || -> #ty #body);
    let closure = parts.in_span(closure);
    if parts.model.may_have_deadline() {
        let (until, timer, retries) = (parts.until(), &parts.timer, parts.retries());
        if parts.model.named.is_some() {
            return ours!(#krate::__private::attempt_named(&operation, &#retries, #until, #timer, #closure));
        }
        return ours!(#krate::__private::attempt_until(#retries, #until, #timer, #closure));
    }
    ours!(#krate::__private::attempt(#closure))
}

fn body_span(body: &TokenStream) -> proc_macro2::Span {
    syn::spanned::Spanned::span(body)
}
