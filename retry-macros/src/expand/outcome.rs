//! An attempt and what it came to: success leaves the loop, anything else is
//! bound as `cause`, and told when the call gives up.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use retry_runtime::rules::Key;
use syn::spanned::Spanned as _;

use super::parts::{Parts, hook, used};
use retry_syntax::item::Answer;
use retry_syntax::model::at;

/// Which attempts are cut off when time runs out.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Cutting {
    /// None: there is no limit, or the thread blocks.
    Never,
    /// All: the answer must be able to say so.
    Always,
    /// Those whose answer can say so: whether there is a limit at all is not
    /// known here, or what kind of answer there is.
    IfItCan,
}

impl Parts<'_> {
    pub(super) fn cutting(&self) -> Cutting {
        let model = self.model;
        let whole = model.until.is_some() && !model.has(Key::Timeout);
        let unclear = whole && matches!(self.answer, Answer::Other(_) | Answer::Unknown(_));
        let has_key = model.has(Key::Deadline) || model.has(Key::Timeout);
        if !self.asynchronous || !model.may_be_cut() {
            Cutting::Never
        } else if self.is_told() || (has_key && !unclear) {
            Cutting::Always
        } else {
            Cutting::IfItCan
        }
    }

    /// What counts the failures before an attempt: with `until` not all that `call`
    /// counts.
    pub(super) fn retries(&self) -> TokenStream {
        if self.model.until.is_some() {
            ours!(retried)
        } else {
            ours!(call)
        }
    }

    pub(super) fn is_told(&self) -> bool {
        matches!(self.answer, Answer::Failed(..))
    }

    /// Runs `attempt`, an expression, and takes its outcome apart.
    pub(super) fn attempted(&self, attempt: &TokenStream) -> TokenStream {
        if self.cutting() != Cutting::Never {
            return self.limited(attempt);
        }
        let (krate, until) = (&self.krate, self.model.until.is_some());
        if !self.asynchronous {
            let leave = (!self.model.may_have_deadline()).then(|| ours!(inside.leave();));
            let apart = if until {
                let polled = self.polled();
                ours!(#leave #polled)
            } else {
                let error = self.split(true);
                let cause = self.named_cause();
                ours!(let error = #error; #leave #cause)
            };
            return ours!(let outcome = #attempt; #apart);
        }
        let retries = self.retries();
        // Two places to wait, so that the first attempt is awaited as it is; where
        // nothing else comes in between, each is taken apart in its place.
        let counted = until.then(|| ours!(let first = #krate::__private::is_first(retried);));
        let (name, first, again, apart) = if until {
            let again = ours!(#krate::__private::again(attempt, #retries).await);
            (ours!(outcome), ours!(attempt.await), again, self.polled())
        } else {
            let (first, again) = self.places(|may_recover| self.split(may_recover));
            let name = self.and_beginning(ours!(error));
            (name, first, again, self.named_cause())
        };
        let attempted = ours!(if first { #first } else { #again });
        let attempted = if self.model.hedge.is_some() {
            // A timer that the user's expression makes lives until the copies have ended.
            ours!(let #name = match #attempt { attempt => #attempted };)
        } else {
            ours!(let attempt = #attempt; let #name = #attempted;)
        };
        ours!(#counted #attempted #apart)
    }

    /// What tells an attempt that it is a retry: the state around the loop, and the
    /// statement before the next attempt. With a limit in time each attempt is told
    /// anyway.
    pub(super) fn told_apart(&self) -> (TokenStream, TokenStream) {
        let (krate, retries) = (&self.krate, self.retries());
        let (begins, begins_again) = self.begins();
        if self.has_two_places() {
            // Not asked of `call`: that it is a constant each time around saves the test.
            (ours!(let mut first = true;), ours!(first = false;))
        } else if self.asynchronous || self.model.may_have_deadline() {
            (begins, begins_again)
        } else {
            match self.inside_told() {
                Some(told) => told,
                None => (
                    ours!(#begins let mut inside = #krate::__private::Inside::new();),
                    ours!(#begins_again inside.enter(#retries);),
                ),
            }
        }
    }

    /// Whether a first attempt is waited for and taken apart in a place of its own.
    pub(super) fn has_two_places(&self) -> bool {
        self.asynchronous && self.cutting() == Cutting::Never && self.model.until.is_none()
    }

    /// `let cause = ...;`, where more than the verdict looks at it.
    fn named_cause(&self) -> TokenStream {
        if self.is_watched() || self.model.verify.is_some() {
            let krate = &self.krate;
            ours!(let cause = #krate::Cause::Error(&error);)
        } else {
            TokenStream::new()
        }
    }

    /// The error of `outcome`, or out of the loop with a success, which may be a recovery.
    fn split(&self, may_recover: bool) -> TokenStream {
        let (label, span) = (self.label(), self.answer_span());
        let located = self.model.krate_at(span);
        let split = match (self.cutting(), self.is_told()) {
            (Cutting::Never, false) => "split",
            (Cutting::Never, true) => "split_told",
            (_, false) => "split_limited",
            (_, true) => "split_limited_told",
        };
        let split = Ident::new(split, at(span));
        let split = quote_spanned!(at(span)=> #located::__private::#split(outcome, &call));
        let answer = ours!(answer);
        let answer = if may_recover {
            self.recovered(answer)
        } else {
            answer
        };
        let answered = self.answered(&answer);
        ours! {
            match #split {
                ::core::result::Result::Ok(answer) => break #label #answered,
                ::core::result::Result::Err(error) => error,
            }
        }
    }

    /// With `until`: `outcome` is kept, because its value may not be final.
    fn polled(&self) -> TokenStream {
        let Some(until) = &self.model.until else {
            return TokenStream::new();
        };
        let (krate, label) = (&self.krate, self.label());
        let (span, hook) = (until.span(), hook(until));
        let located = self.model.krate_at(span);
        let test = quote_spanned!(at(span)=> #located::__private::until(value, #hook));
        let (cause, outcome) = if self.cutting() == Cutting::Never {
            (
                ours!(#krate::__private::Polled(&outcome).reattempt_cause(|value| #test)),
                ours!(outcome),
            )
        } else {
            let cause = ours! {
                match &outcome {
                    ::core::result::Result::Ok(outcome) => #krate::__private::Polled(outcome).reattempt_cause(|value| #test),
                    ::core::result::Result::Err(_) => ::core::option::Option::Some(#krate::Cause::TimedOut),
                }
            };
            (cause, ours!(#krate::__private::finished(outcome)))
        };
        let answer = if self.is_told() {
            ours!(#krate::__private::Polled(#outcome).succeed())
        } else {
            outcome
        };
        let answer = self.recovered(ours!(#krate::__private::succeeded(#answer, &call)));
        let answered = self.answered(&answer);
        ours! {
            let cause = match #cause {
                ::core::option::Option::None => break #label #answered,
                ::core::option::Option::Some(cause) => cause,
            };
            retried = #krate::__private::Count::and(retried, &cause);
        }
    }

    /// An attempt with a limit in time; past the deadline nothing is left to decide.
    fn limited(&self, attempt: &TokenStream) -> TokenStream {
        let (krate, timer, kept) = (&self.krate, &self.timer, &self.timer_kept);
        let (until, operation, retries) = (self.until(), self.operation(), self.retries());
        let limits = self.limits();
        let limit = if self.may_time_out() {
            ours!(#krate::__private::Until::of_attempt(#until, #krate::Operation::policy(#operation), #timer))
        } else {
            until.clone()
        };
        let (outcome, cut, lost, late) = if self.cutting() == Cutting::Always {
            let span = self.model.error_span;
            let located = self.model.krate_at(span);
            (
                ours!(#krate::__private::limited(#attempt, #limit, #retries, #kept).await),
                quote_spanned!(at(span)=> let cut = #located::__private::cut();),
                ours!(_),
                ours!(cut(end)),
            )
        } else {
            let ready = self.ready(attempt);
            let limited = ours! {{
                use #krate::__private::{MayCut as _, NeverCuts as _};
                #krate::__private::Either(::core::option::Option::Some(#ready)).reattempt_limited(#limit, #until, #retries, #kept)
            }};
            (
                self.idle(attempt, &limited),
                TokenStream::new(),
                ours!(lost),
                ours!(#krate::__private::Lost::answer(lost, end)),
            )
        };
        let apart = if self.model.until.is_some() {
            self.polled()
        } else {
            let error = self.split(true);
            ours!(let error = #error; let cause = #krate::__private::cause_of(&error);)
        };
        let renewed = self.renewed_if_cut();
        ours! {
            let outcome = #outcome;
            #cut
            #renewed
            let outcome = match #krate::__private::in_time(outcome, &call, #operation, #until, #timer, #limits) {
                ::core::result::Result::Ok(outcome) => outcome,
                ::core::result::Result::Err((#lost, end)) => break #late,
            };
            #apart
        }
    }

    /// The answer when giving up, before `fallback`.
    pub(super) fn give_up(&self) -> TokenStream {
        let krate = &self.krate;
        let cutting = self.cutting();
        if self.model.until.is_some() {
            return self.give_up_polling();
        }
        let span = self.answer_span();
        let located = self.model.krate_at(span);
        match (cutting, self.is_told()) {
            (Cutting::Never, true) => ours!(#krate::__private::tell(error, end)),
            (Cutting::Never, false) => quote_spanned!(at(span)=> #located::__private::fail(error)),
            (_, true) => ours!(#krate::__private::tell_limited(error, end)),
            (Cutting::Always, false) => ours!(#krate::__private::fail_cut(error, end, cut)),
            (Cutting::IfItCan, false) => ours!(#krate::__private::fail_limited(error, end)),
        }
    }

    fn give_up_polling(&self) -> TokenStream {
        let krate = &self.krate;
        let polled = if self.is_told() {
            ours!(#krate::__private::Polled(outcome).tell(end))
        } else {
            let span = self.model.error_span;
            let located = self.model.krate_at(span);
            quote_spanned!(at(span)=> #located::__private::Polled(outcome).reattempt_end(end))
        };
        let (lost, cut) = match self.cutting() {
            Cutting::Never => return polled,
            Cutting::Always => (ours!(_), ours!(cut(#krate::__private::timed_out(end)))),
            Cutting::IfItCan => (
                ours!(lost),
                ours!(#krate::__private::Lost::answer(lost, #krate::__private::timed_out(end))),
            ),
        };
        ours! {
            match outcome {
                ::core::result::Result::Ok(outcome) => #polled,
                ::core::result::Result::Err(#lost) => #cut,
            }
        }
    }

    /// The name of the end, where the answer when giving up needs to know why.
    pub(super) fn end(&self) -> TokenStream {
        let wants = self.model.until.is_some() || self.is_told();
        used(ours!(end), wants || self.cutting() != Cutting::Never)
    }

    /// Traits whose methods the types choose among; named nothing.
    pub(super) fn uses(&self) -> TokenStream {
        let krate = &self.krate;
        match self.model.until {
            Some(_) => ours!(use #krate::__private::{Whole as _, WholeEnd as _};),
            None => TokenStream::new(),
        }
    }
}
