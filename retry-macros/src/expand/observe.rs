//! What the loops tell of their attempts to those who watch: a note after a failure, in front of the step, and word
//! of a recovery. Without the feature `observe` nothing of it stands in an expansion.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;
use retry_runtime::rules::Key;
use syn::spanned::Spanned;

use super::parts::{Parts, method};
use retry_syntax::item::Answer;
use retry_syntax::model::at;

/// Whether a type leaves a part of it to the compiler, which may not know it yet.
fn has_hole(ty: &TokenStream) -> bool {
    ty.clone().into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "_",
        TokenTree::Group(group) => has_hole(&group.stream()),
        _ => false,
    })
}

/// Whether the crate that expansions name has observers.
pub(super) fn is_on() -> bool {
    #[cfg(test)]
    return super::tests::IS_OBSERVED.get();
    #[cfg(not(test))]
    return cfg!(feature = "observe");
}

impl Parts<'_> {
    /// `let call_began = ...;` where the policy may say that attempts are timed.
    pub(super) fn started(&self) -> TokenStream {
        if !self.may_be_timed() {
            return TokenStream::new();
        }
        let (krate, operation) = (&self.krate, self.operation());
        let start = method(if self.model.named.is_some() {
            "start_named"
        } else {
            "start"
        });
        ours!(let call_began = #krate::__private::Began::#start(#krate::Operation::policy(#operation));)
    }

    fn may_be_timed(&self) -> bool {
        is_on() && (self.model.is_inherited() || self.model.has(Key::Telemetry))
    }

    /// The future of an attempt, in a span where the policy may say that it has one.
    pub(super) fn spanned(&self, attempt: TokenStream) -> TokenStream {
        if !self.may_be_timed() {
            return attempt;
        }
        let (krate, operation) = (&self.krate, self.operation());
        ours!(#krate::__private::spanned(#operation, &call, #attempt))
    }

    /// The same of a closure, which is called at once.
    pub(super) fn in_span(&self, attempt: TokenStream) -> TokenStream {
        if !self.may_be_timed() {
            return attempt;
        }
        let (krate, operation) = (&self.krate, self.operation());
        ours!(|| #krate::__private::in_span(#operation, &call, #attempt))
    }

    /// When the call began.
    pub(super) fn start(&self) -> TokenStream {
        let krate = &self.krate;
        if self.may_be_timed() {
            ours!(call_began)
        } else {
            ours!(#krate::__private::Began::UNKNOWN)
        }
    }

    /// What the loop keeps of its attempts, in front of it, and what it says where the next one begins. Of a sync loop
    /// that is how deep it lies in the thread's; where an async one has two places to wait for an attempt, each says it of its own.
    pub(super) fn begins(&self) -> (TokenStream, TokenStream) {
        if !is_on() || self.has_two_places() {
            return (TokenStream::new(), TokenStream::new());
        }
        let krate = &self.krate;
        if !self.asynchronous {
            let (operation, began) = (self.operation(), self.beginnings());
            return (
                ours!(let mut told = #krate::__private::InRetry::new();),
                ours!(told.enter(&call, #operation, #began);),
            );
        }
        let start = self.start();
        (
            ours!(let mut began = #start;),
            ours!(began = #krate::__private::Began::again();),
        )
    }

    /// The same where the loop is told of a retry by nothing else, with that in one.
    pub(super) fn inside_told(&self) -> Option<(TokenStream, TokenStream)> {
        if !self.is_told_inside() {
            return None;
        }
        let krate = &self.krate;
        let (operation, began) = (self.operation(), self.beginnings());
        Some((
            ours!(let mut inside = #krate::__private::InsideTold::new();),
            ours!(inside.enter(&call, #operation, #began);),
        ))
    }

    /// Values that are not final are no retries of those below, but of those who watch.
    fn is_told_inside(&self) -> bool {
        is_on()
            && !self.asynchronous
            && !self.model.may_have_deadline()
            && self.model.until.is_none()
    }

    /// The way out with a success that `verify` has found, after the attempt.
    pub(super) fn found_inside(&self, leave: TokenStream) -> TokenStream {
        if self.is_told_inside() {
            ours!({ inside.found(); #leave })
        } else {
            leave
        }
    }

    /// A first attempt, and one that is a retry: what waits for it and takes it apart.
    pub(super) fn places(&self, apart: impl Fn(bool) -> TokenStream) -> (TokenStream, TokenStream) {
        let (krate, retries) = (&self.krate, self.retries());
        let (once, later) = (apart(false), apart(true));
        if !is_on() || !self.has_two_places() {
            return (
                ours!(let outcome = attempt.await; #once),
                ours!(let outcome = #krate::__private::again(attempt, #retries).await; #later),
            );
        }
        let start = self.start();
        (
            ours!(let outcome = attempt.await; (#once, #start)),
            ours!(let (outcome, began) = #krate::__private::again_told(attempt, #retries).await; (#later, began)),
        )
    }

    /// The pattern for what the places give.
    pub(super) fn and_beginning(&self, name: TokenStream) -> TokenStream {
        if is_on() && self.has_two_places() {
            ours!((#name, began))
        } else {
            name
        }
    }

    /// What is known of the times of the attempt and of the call.
    fn beginnings(&self) -> TokenStream {
        let krate = &self.krate;
        let knows_call = self.may_be_timed() || self.model.may_have_deadline();
        let (start, until, timer) = (self.start(), self.until(), &self.timer_kept);
        match (self.asynchronous, knows_call) {
            (true, true) => ours!((#start, began, #until, #timer)),
            (true, false) => ours!(began),
            (false, true) => ours!(#krate::__private::HereSince(#start, #until, #timer)),
            (false, false) => ours!(#krate::__private::Here),
        }
    }

    /// Whether the step tells of the attempt itself, which the error goes through; not where a call may end after the
    /// wait with that error.
    fn is_told_by_step(&self) -> bool {
        let steps = self.is_watched() || self.model.is_gated() || self.keeps();
        is_on() && self.asynchronous && !steps
    }

    /// The step that tells, as an expression.
    pub(super) fn told_step(&self) -> Option<TokenStream> {
        if !self.is_told_by_step() {
            return None;
        }
        let place = self
            .model
            .timer
            .as_ref()
            .map_or_else(Span::mixed_site, Spanned::span);
        let krate = self.model.krate_at(place);
        let (operation, until, timer) = (self.operation(), self.until(), &self.timer);
        let (limits, began, words) = (self.limits(), self.beginnings(), self.words());
        Some(quote_spanned! {at(place)=>
            #krate::__private::pause_told(error, &mut call, #operation, #until, #timer, verdict, #limits, #began, #words)
        })
    }

    /// The failed attempt, in front of the step that says what comes of it.
    pub(super) fn noted(&self) -> TokenStream {
        if !is_on() || self.is_told_by_step() {
            return TokenStream::new();
        }
        let (krate, operation) = (&self.krate, self.operation());
        let (began, cause, words) = (self.beginnings(), self.cause(), self.words());
        if self.asynchronous || self.is_told_inside() {
            ours!(#krate::__private::note(&call, #operation, #began, #cause, #words);)
        } else {
            ours!(told.note(&call, #operation, #began, #cause, #words);)
        }
    }

    /// What the error says of itself, where its type is known by now: which of its traits it has is asked of a method.
    fn words(&self) -> TokenStream {
        let krate = &self.krate;
        if self.model.until.is_none() && !self.knows_error() {
            return ours!(|_| ::core::option::Option::None);
        }
        ours! {
            |error| {
                use #krate::__private::{NoWords as _, WordsByDebug as _, WordsByDisplay as _};
                (&&#krate::__private::Words(error)).reattempt_words()
            }
        }
    }

    fn knows_error(&self) -> bool {
        match self.answer {
            Answer::Inferred => false,
            answer => answer.ty().is_none_or(|ty| !has_hole(&ours!(#ty))),
        }
    }

    /// A success on its way out of the loop; a sync one is told when what it keeps is dropped.
    pub(super) fn recovered(&self, answer: TokenStream) -> TokenStream {
        if !is_on() || !self.asynchronous {
            return answer;
        }
        let (krate, operation) = (&self.krate, self.operation());
        let began = self.beginnings();
        ours!(#krate::__private::recovered(#answer, &call, #operation, #began))
    }
}
