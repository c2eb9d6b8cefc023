//! An attempt and what it came to: success leaves the loop, anything else is
//! bound as `cause`, and reported when the call gives up.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use reattempt_policy::rules::Key;
use syn::spanned::Spanned as _;

use super::observe::has_hole;
use super::parts::{Parts, hook, used};
use reattempt_syntax::item::Answer;
use reattempt_syntax::model::{self, Mapper, at};

/// Which attempts are cut off when time runs out.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Cutting {
    /// None: there is no limit, or the thread blocks.
    Never,
    /// All: the answer must be able to say so.
    Always,
    /// All, if the policy has a limit: it is a constant, so the compiler knows.
    ByPolicy,
    /// None, though they see the bounds: `cut_off = false`, or a priority alone.
    NotCutOff,
}

impl Parts<'_> {
    pub(super) fn cutting(&self) -> Cutting {
        let model = self.model;
        let has_key = model.has(Key::Deadline) || model.has(Key::Timeout);
        let hands_down = model.has(Key::Priority);
        if !self.asynchronous || !model.may_be_cut() && !hands_down {
            Cutting::Never
        } else if !model.cut_off || !model.may_be_cut() {
            Cutting::NotCutOff
        } else if has_key || self.known_policy().is_none() {
            Cutting::Always
        } else {
            Cutting::ByPolicy
        }
    }

    /// Whether a call ends with a `RetryError`: of its answer, going by its name, or for `map_err`.
    pub(super) fn is_reported(&self) -> bool {
        let by_name =
            matches!(self.answer, Answer::RetryError(..)) && self.answer.to_ask().is_none();
        by_name || self.model.map_err.is_some()
    }

    /// What the body answers and what the call makes of that, where the type says whether there is a `RetryError`.
    pub(super) fn form(&self) -> Option<TokenStream> {
        if self.model.map_err.is_some() {
            return Some(ours!(form));
        }
        // By the choice of methods, which sees through an alias: the inherent one of a `Result`
        // with a `RetryError` is found before that of the trait.
        let (ty, span) = (self.answer.to_ask()?, self.answer_span());
        let krate = self.model.krate_at(span);
        Some(quote_spanned!(at(span)=> {
            use #krate::__private::PlainForm as _;
            #krate::__private::FormOf::<#ty>::NEW.reattempt_form()
        }))
    }

    /// `looped`, unless the caller's deadline has passed and the answer can say so: it is a `RetryError`, or the call has
    /// limits of its own.
    pub(super) fn unless_too_late(&self, looped: &TokenStream) -> TokenStream {
        let (krate, context) = (&self.krate, self.deferred_context());
        // An attempt that is cut off is not begun either. Whether a policy cuts any off, only the running program may know.
        if self.cutting() == Cutting::Always && !self.model.is_inherited() {
            return looped.clone();
        }
        let has_limits = self.model.is_limited() || self.model.may_have_bounds();
        let answer = if self.answers_anything() {
            ours!(#krate::__private::refused(::core::option::Option::Some(::core::mem::drop), #context))
        } else if let Some(form) = self
            .form()
            .filter(|_| !has_limits || self.model.map_err.is_some())
        {
            ours!(#krate::__private::refused((#form).refusal(), #context))
        } else if let Some(answer) = self
            .answer
            .written()
            .filter(|ty| !has_hole(ty) && (has_limits || self.is_reported()))
        {
            ours!(#krate::__private::too_late!(#answer, #context))
        } else {
            return looped.clone();
        };
        ours! {
            if let ::core::option::Option::Some(answer) = #answer {
                answer
            } else {
                #looped
            }
        }
    }

    /// `let form = ...;` where the mapper says with which error an attempt fails.
    pub(super) fn mapped_form(&self) -> Option<TokenStream> {
        let Mapper { code, parameter } = self.model.map_err.as_ref()?;
        let answer = self.whole_answer();
        // In front of the loop, so that the error of an attempt is known before the body is read.
        Some(if let Some(parameter) = parameter {
            let krate = self.model.krate_at(parameter.span());
            quote_spanned!(at(parameter.span())=> let (form, ended) = #krate::__private::form_of_parameter::<#answer, #parameter, _>();)
        } else {
            let krate = self.model.krate_at(code.span());
            quote_spanned! {at(code.span())=>
                let ended = |end| #krate::__private::map_err::<#answer, _, _>(end, ::core::convert::identity, #code);
                let form = #krate::__private::form_of_mapper(&ended);
            }
        })
    }

    /// The type of what the whole function answers, which has an error.
    fn whole_answer(&self) -> TokenStream {
        let written = self.answer.written();
        written.unwrap_or_else(|| ours!(::core::result::Result<_, _>))
    }

    /// `looped`, and what `map_err` makes of its error.
    pub(super) fn mapped(&self, looped: TokenStream) -> TokenStream {
        let Some(Mapper { code, parameter }) = &self.model.map_err else {
            return looped;
        };
        let (krate, answer) = (self.model.krate_at(code.span()), self.whole_answer());
        let mapped = if parameter.is_some() {
            quote_spanned!(at(code.span())=> #krate::__private::map_err::<#answer, _, _>(end, ended, #code))
        } else {
            ours!(ended(end))
        };
        let released = self.released();
        ours!({ let end = #looped; #released #mapped })
    }

    /// Whether what an async attempt awaits is kept nowhere but in the call: nothing limits, copies or watches it.
    pub(super) fn awaits_alone(&self) -> bool {
        self.asynchronous
            && self.cutting() == Cutting::Never
            && self.model.until.is_none()
            && self.model.hedge.is_none()
            && !self.may_be_timed()
    }

    /// Runs `attempt`, an expression, and takes its outcome apart. One that makes the future of an attempt is `made`, and
    /// awaited where the body does it.
    pub(super) fn attempted(&self, attempt: &TokenStream, made: Option<Span>) -> TokenStream {
        if self.cutting() != Cutting::Never {
            // A limit has one place for all attempts: it tells by the count whether it is a retry.
            return self.limited(attempt);
        }
        if self.model.until.is_some() {
            let polled = self.polled();
            if !self.asynchronous {
                return ours!(let outcome = #attempt; #polled);
            }
            let is_first = self.is_first();
            let first = first_outcome();
            let awaited = ours!(if #is_first { #first } else { (&mut call).again(attempt).await });
            return ours!(let attempt = #attempt; let outcome = #awaited; #polled);
        }
        let cause = self.named_cause();
        if !self.asynchronous {
            let error = self.split(
                &ours!(outcome),
                &self.succeeded(&ours!(answer)),
                &ours!(error),
            );
            return ours!(let outcome = #attempt; let error = #error; #cause);
        }
        // The same twice: with a place of its own a first attempt costs what it costs without a retry.
        let awaited = |attempt: TokenStream| {
            let span = made.unwrap_or_else(|| self.answer_span());
            quote_spanned!(at(span)=> #attempt.await)
        };
        let (at_first, at_retry) = match made {
            Some(_) => (ours!(first_of), ours!(again_of)),
            None => (ours!(first), ours!(again)),
        };
        // On `(&mut call)`, everywhere: on `call` a method by value of a blanket trait of the
        // user's would be found before ours. What takes `&self` is called by its path.
        let at_once = self.succeeded_at_once(&ours!(answer));
        let failed = ours!((&mut call).first_ended(marks, error));
        let first = self.split(&ours!(outcome), &at_once, &failed);
        let recovered = self.succeeded(&ours!(answer));
        let awaited_again = awaited(ours!((&mut call).#at_retry(attempt)));
        let again = if made.is_some() {
            let again = self.split(&ours!(outcome), &recovered, &ours!(error));
            ours!(let outcome = #awaited_again; #again)
        } else {
            self.split(&awaited_again, &recovered, &ours!(error))
        };
        let is_first = self.is_first();
        let first_awaited = awaited(ours!((&mut call).#at_first(attempt)));
        let awaited = ours! {
            if #is_first {
                let (outcome, marks) = #first_awaited;
                #first
            } else {
                #again
            }
        };
        if self.model.hedge.is_some() {
            // A timer that the user's expression makes lives until the copies have ended.
            ours!(let error = match #attempt { attempt => #awaited }; #cause)
        } else {
            ours!(let attempt = #attempt; let error = #awaited; #cause)
        }
    }

    fn is_first(&self) -> TokenStream {
        let krate = &self.krate;
        // Nested calls see a retry only after a failure; a poll that asks again is not one.
        let count = if self.model.until.is_some() {
            "retries"
        } else {
            "failures"
        };
        let count = super::parts::method(count);
        ours!(#krate::__private::LiveCall::#count(&call) == 0)
    }

    /// The statement before the next attempt, where the attempt itself does not say that it is a retry.
    pub(super) fn begins_again(&self) -> TokenStream {
        if self.cutting() == Cutting::Never {
            TokenStream::new()
        } else {
            ours!((&mut call).retry_begins();)
        }
    }

    /// `let cause = ...;`, where more than the verdict looks at it.
    fn named_cause(&self) -> TokenStream {
        if self.has_cause() {
            self.cause_bound()
        } else {
            TokenStream::new()
        }
    }

    /// The same, of an `error` without `until`.
    pub(super) fn cause_bound(&self) -> TokenStream {
        let krate = &self.krate;
        if self.cutting() == Cutting::Never {
            ours!(let cause = #krate::attempt::Cause::Error(&error);)
        } else {
            ours!(let cause = #krate::__private::cause_of(&error);)
        }
    }

    /// The function that takes an outcome apart.
    pub(super) fn splitter(&self) -> TokenStream {
        if let Some(form) = self.form() {
            let krate = &self.krate;
            return ours!(|outcome| #krate::__private::split_as(#form, outcome));
        }
        let span = self.answer_span();
        let located = self.model.krate_at(span);
        let split = if self.is_reported() {
            "split_retry_error"
        } else {
            "split"
        };
        let split = Ident::new(split, at(span));
        quote_spanned!(at(span)=> #located::__private::#split)
    }

    /// `outcome`, an expression, taken apart.
    pub(super) fn split_of(&self, outcome: &TokenStream) -> TokenStream {
        let (split, span) = (self.splitter(), self.answer_span());
        if let Some(form) = self.form() {
            let located = self.model.krate_at(span);
            quote_spanned!(at(span)=> #located::__private::split_as(#form, #outcome))
        } else {
            quote_spanned!(at(span)=> #split(#outcome))
        }
    }

    /// The error of `outcome`, an expression, which is `failed` then, or out of the loop with a success.
    fn split(
        &self,
        outcome: &TokenStream,
        answered: &TokenStream,
        failed: &TokenStream,
    ) -> TokenStream {
        let (label, split, span) = (self.label(), self.splitter(), self.answer_span());
        // What is judged points there, too: the compiler blames the argument.
        let outcome = model::located(outcome.clone(), at(span));
        // Taken apart by value, so that a large answer is copied once.
        let split = if self.cutting() == Cutting::Never {
            self.split_of(&outcome)
        } else {
            let krate = &self.krate;
            ours!(#krate::__private::split_limited(#outcome, #split))
        };
        let ended = ours!(::core::result::Result::Ok(answer) => break #label #answered,);
        if matches!(self.answer, Answer::Inferred) {
            // No arm is of type `!`, which the type of an error that nothing tells would become.
            return ours! {{
                let failed;
                match #split {
                    #ended
                    ::core::result::Result::Err(error) => failed = #failed,
                }
                failed
            }};
        }
        ours! {
            match #split {
                #ended
                ::core::result::Result::Err(error) => #failed,
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
                    ::core::result::Result::Err(_) => ::core::option::Option::Some(#krate::attempt::Cause::TimedOut),
                }
            };
            (cause, ours!(#krate::__private::finished(outcome)))
        };
        let answer = if let Some(form) = self.form() {
            ours!((#form).succeed(#outcome))
        } else if self.is_reported() {
            ours!(#krate::__private::Polled(#outcome).succeed())
        } else {
            outcome
        };
        let answered = self.succeeded(&answer);
        ours! {
            let cause = match #cause {
                ::core::option::Option::None => break #label #answered,
                ::core::option::Option::Some(cause) => cause,
            };
        }
    }

    /// An attempt with a limit in time; past the deadline nothing is left to decide.
    fn limited(&self, attempt: &TokenStream) -> TokenStream {
        let (krate, kept, until) = (&self.krate, &self.timer_kept, self.until());
        let (context, gates) = (self.deferred_context(), self.gates());
        let endures = self.cutting() == Cutting::NotCutOff;
        let limit = if self.may_time_out() && !endures {
            self.limit_of_attempt()
        } else {
            until.clone()
        };
        let outcome = self.plain_or(attempt, &limit, |attempt, limit| match self.cutting() {
            Cutting::NotCutOff => {
                ours!(#krate::__private::not_cut_off(#attempt, #limit, &mut call, #kept))
            }
            Cutting::ByPolicy => {
                // By a type, so that an error without `From<GaveUp>` is refused only under a policy
                // with a limit.
                let policy = self.policy();
                ours! {
                    <#krate::__private::HasLimit<{ #krate::Policy::has_limit(&#policy) }> as #krate::__private::LimitByPolicy>
                        ::limited(#attempt, #limit, #until, &mut call, #kept)
                }
            }
            _ => ours!(#krate::__private::limited(#attempt, #limit, &mut call, #kept)),
        });
        let cut = self.cut_bound();
        let (lost, end) = (self.lost(), self.end());
        let late = self.lost_answer(&ours!(end));
        let apart = if self.model.until.is_some() {
            self.polled()
        } else {
            let error = self.split(
                &ours!(outcome),
                &self.succeeded(&ours!(answer)),
                &ours!(error),
            );
            let cause = self.cause_bound();
            ours!(let error = #error; #cause)
        };
        let renewed = self.renewed_if_cut();
        let in_time = ours!((&mut call).in_time(outcome, #context, #gates));
        let in_time = if self.model.is_running() {
            // Only what was cut off needs the policy.
            ours!(if ::core::result::Result::is_ok(&outcome) { ::core::result::Result::Ok(outcome) } else { #in_time })
        } else {
            in_time
        };
        ours! {
            let outcome = #outcome;
            #cut
            #renewed
            let outcome = match #in_time {
                ::core::result::Result::Ok(outcome) => outcome,
                ::core::result::Result::Err((#lost, #end)) => break #late,
            };
            #apart
        }
    }

    /// Until when an attempt may run.
    fn limit_of_attempt(&self) -> TokenStream {
        let (krate, until, timer) = (&self.krate, self.until(), &self.timer);
        let Some(timeout) = &self.model.timeout_by else {
            let policy = self.limit_ref(Key::Timeout);
            let limit = ours!(#krate::__private::Until::of_attempt(#until, #policy, #timer));
            return self.unless_plain(limit, &until);
        };
        let (span, krate) = (at(timeout.span()), self.model.krate_at(timeout.span()));
        let failures = ours!(#krate::__private::LiveCall::failures(&call));
        quote_spanned!(span=> #krate::__private::Until::of_attempt_by(#until, #timeout, #failures, #timer))
    }

    /// `let cut = ...;`: what makes the answer of a call that is cut off, made where the answer stands, which has to say so.
    pub(super) fn cut_bound(&self) -> TokenStream {
        if self.has_cut() {
            self.cut()
        } else {
            TokenStream::new()
        }
    }

    /// Whether an attempt that is cut off has a `cut` behind it.
    pub(super) fn has_cut(&self) -> bool {
        self.cutting() == Cutting::Always && !self.answers_anything()
    }

    /// The same for a call that a gate turns away.
    pub(super) fn cut(&self) -> TokenStream {
        let span = self.model.error_span;
        let located = self.model.krate_at(span);
        let cut = Ident::new(self.cut_of_error(), at(span));
        quote_spanned!(at(span)=> let cut = #located::__private::#cut();)
    }

    /// Its name, by which the compiler says what fits the error.
    fn cut_of_error(&self) -> &'static str {
        match self.answer.error() {
            None => "cut",
            Some(syn::Type::Path(error)) if error.qself.is_none() => {
                let path = &error.path;
                let is_here = |name: &Ident| ["crate", "self", "super"].iter().any(|it| name == it);
                match (path.get_ident(), path.segments.first()) {
                    (Some(name), _) if self.model.generics.contains(name) => "cut_parameter",
                    // A name without a path, but not a type of the user's crate.
                    (Some(name), _) if name == "String" => "cut_foreign",
                    (Some(_), _) => "cut_own",
                    (None, Some(first)) if is_here(&first.ident) => "cut_own",
                    _ => "cut_foreign",
                }
            }
            Some(_) => "cut_foreign",
        }
    }

    /// The name of what is left of an attempt that was cut off, where an answer is made of it.
    fn lost(&self) -> TokenStream {
        let makes = matches!(self.cutting(), Cutting::ByPolicy | Cutting::NotCutOff);
        let makes = makes || self.remembers();
        used(ours!(lost), makes && !self.answers_anything())
    }

    /// The answer of a call that ends with it.
    fn lost_answer(&self, end: &TokenStream) -> TokenStream {
        if self.answers_anything() {
            return ours!(());
        }
        if self.remembers() {
            return self.lost_with_earlier(end, &self.plain_lost_answer(&ours!(end)));
        }
        self.plain_lost_answer(end)
    }

    fn plain_lost_answer(&self, end: &TokenStream) -> TokenStream {
        if self.cutting() == Cutting::Always {
            return ours!(cut(#end));
        }
        let span = self.model.error_span;
        let located = self.model.krate_at(span);
        quote_spanned!(at(span)=> #located::__private::LostAnswer::answer(lost, #end))
    }

    /// The answer when giving up, before `fallback`.
    pub(super) fn give_up(&self) -> TokenStream {
        let krate = &self.krate;
        let cutting = self.cutting();
        if self.answers_anything() {
            let last = self.last();
            return ours!(::core::mem::drop(#last));
        }
        if self.model.until.is_some() {
            return self.give_up_polling();
        }
        if self.remembers() {
            return self.give_up_with_earlier();
        }
        if let Some(form) = self.form() {
            // As `split`, so that the compiler says it once.
            let span = at(self.answer_span());
            return match cutting {
                Cutting::Never => {
                    let located = self.model.krate_at(span);
                    quote_spanned!(span=> #located::__private::fail_as(#form, error, end))
                }
                Cutting::Always => quote_spanned!(span=> (#form).fail_cut(error, end, cut)),
                Cutting::ByPolicy | Cutting::NotCutOff => {
                    quote_spanned!(span=> (#form).fail_limited(error, end))
                }
            };
        }
        let span = self.answer_span();
        let located = self.model.krate_at(span);
        match (cutting, self.is_reported()) {
            (Cutting::Never, true) => ours!(#krate::__private::fail_retry_error(error, end)),
            (Cutting::Never, false) => quote_spanned!(at(span)=> #located::__private::fail(error)),
            (_, true) => ours!(#krate::__private::fail_limited_retry_error(error, end)),
            (Cutting::Always, false) => ours!(#krate::__private::fail_cut(error, end, cut)),
            (Cutting::ByPolicy | Cutting::NotCutOff, false) => {
                let located = self.model.krate_at(self.model.error_span);
                quote_spanned!(at(self.model.error_span)=> #located::__private::fail_limited(error, end))
            }
        }
    }

    fn give_up_with_earlier(&self) -> TokenStream {
        let (krate, span) = (&self.krate, at(self.answer_span()));
        let located = self.model.krate_at(span);
        let failed = if let Some(form) = self.form() {
            quote_spanned!(span=> #located::__private::fail_as(#form, error, end))
        } else {
            ours!(#krate::__private::fail_retry_error(error, end))
        };
        // The last attempt has no error, which the answer says beside the one before it.
        let lost = self.lost_answer(&ours!(#krate::__private::timed_out(end)));
        ours! {
            match error {
                ::core::result::Result::Ok(error) => #failed,
                ::core::result::Result::Err(lost) => #lost,
            }
        }
    }

    fn give_up_polling(&self) -> TokenStream {
        let krate = &self.krate;
        let polled = if let Some(form) = self.form() {
            let span = at(self.model.error_span);
            quote_spanned!(span=> (#form).polled(outcome).reattempt_end(end))
        } else if self.is_reported() {
            ours!(#krate::__private::Polled(outcome).fail(end))
        } else {
            let span = self.model.error_span;
            let located = self.model.krate_at(span);
            quote_spanned!(at(span)=> #located::__private::Polled(outcome).reattempt_end(end))
        };
        if self.cutting() == Cutting::Never {
            return polled;
        }
        let lost = self.lost();
        let cut = self.lost_answer(&ours!(#krate::__private::timed_out(end)));
        ours! {
            match outcome {
                ::core::result::Result::Ok(outcome) => #polled,
                ::core::result::Result::Err(#lost) => #cut,
            }
        }
    }

    /// The name of the end, where the answer when giving up needs to know why.
    pub(super) fn end(&self) -> TokenStream {
        let wants = self.model.until.is_some() || self.is_reported() || self.form().is_some();
        let wants = wants || self.cutting() != Cutting::Never;
        used(ours!(end), wants && !self.answers_anything())
    }

    /// The traits among whose methods the types choose. They are imported as `_`, so that no name
    /// of the body meets theirs.
    pub(super) fn uses(&self) -> TokenStream {
        let krate = &self.krate;
        match self.model.until {
            Some(_) => ours!(use #krate::__private::{Whole as _, WholeEnd as _};),
            None => TokenStream::new(),
        }
    }
}

/// The outcome of a first attempt, of which the call takes over what is marked.
pub(super) fn first_outcome() -> TokenStream {
    ours! {{
        let (outcome, marks) = (&mut call).first(attempt).await;
        (&mut call).first_ended(marks, outcome)
    }}
}
