//! The pieces that the sync and the async loop share.

use proc_macro2::{Group, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, Ident};

use crate::args::Predicate;
use crate::item::Answer;
use crate::model::{Model, at};
use crate::rename::self_to;

/// What the loops are made of, each as an expression.
pub(super) struct Parts<'m> {
    pub(super) model: &'m Model,
    pub(super) answer: &'m Answer,
    pub(super) krate: TokenStream,
    /// The user's timer, or the one for this kind of function.
    pub(super) timer: TokenStream,
    /// The same for a future that keeps it; ours has no size.
    pub(super) timer_kept: TokenStream,
}

impl<'m> Parts<'m> {
    pub(super) fn new(model: &'m Model, answer: &'m Answer, default_timer: &str) -> Self {
        let krate = model.krate();
        let (timer, timer_kept) = if let Some(timer) = &model.timer {
            let timer = quote_spanned!(at(timer.span())=> &(#timer));
            (timer.clone(), timer)
        } else {
            let default = method(default_timer);
            let timer = ours!(#krate::__private::#default);
            (ours!(&#timer), timer)
        };
        Self {
            model,
            answer,
            krate,
            timer,
            timer_kept,
        }
    }

    /// The moment at which the policy's own deadline ends the call.
    pub(super) fn until(&self) -> TokenStream {
        let krate = &self.krate;
        if self.model.may_have_deadline() {
            ours!(until)
        } else {
            ours!(#krate::__private::Until::NEVER)
        }
    }

    /// `let attempt = ...;` for `context`.
    pub(super) fn context(&self) -> TokenStream {
        let (krate, until, timer) = (&self.krate, self.until(), &self.timer);
        self.model.context.as_ref().map_or_else(TokenStream::new, |name| {
            ours! {
                let failures = #krate::__private::Progress::failures(call);
                let #name = #krate::__private::Started::attempt(&started, failures, #until, #timer);
            }
        })
    }

    /// The statements of the body, after fresh clones of the parameters it moves.
    pub(super) fn statements(&self, body: &Group) -> TokenStream {
        let mut statements = body.stream();
        let mut clones = TokenStream::new();
        for (name, mutable) in &self.model.clone {
            let mutable = mutable.then(|| ours!(mut));
            // `self` cannot be bound anew.
            let bound = if name == "self" {
                method("this")
            } else {
                name.clone()
            };
            if name == "self" {
                statements = self_to(statements, &bound);
            }
            let clone = quote_spanned!(at(name.span())=> ::core::clone::Clone::clone(&#name));
            clones.extend(ours!(let #mutable #bound = #clone;));
        }
        ours!(#clones #statements)
    }

    /// `let mut call = ...;`
    pub(super) fn progress(&self) -> TokenStream {
        let krate = &self.krate;
        if self.model.looks_back() {
            ours!(let mut call = #krate::Call::new();)
        } else {
            ours!(let mut call = #krate::__private::Count::new();)
        }
    }

    /// Where errors about the answer as a whole belong.
    fn answer_span(&self) -> Span {
        self.answer
            .ty()
            .map_or(self.model.error_span, syn::spanned::Spanned::span)
    }

    /// Takes `outcome` apart: leaves the loop with a success, or binds `cause`.
    pub(super) fn taken_apart(&self) -> TokenStream {
        let krate = &self.krate;
        let label = self.label();
        let told = matches!(self.answer, Answer::Failed(..));
        let Some(until) = &self.model.until else {
            let span = self.answer_span();
            let located = self.model.krate_at(span);
            let split = if told { "split_told" } else { "split" };
            let split = Ident::new(split, at(span));
            let split = quote_spanned!(at(span)=> #located::__private::#split(outcome));
            return ours! {
                let error = match #split {
                    ::core::result::Result::Ok(answer) => break #label answer,
                    ::core::result::Result::Err(error) => error,
                };
                let cause = #krate::Cause::Error(&error);
            };
        };
        let (span, hook) = (until.span(), hook(until));
        let located = self.model.krate_at(span);
        let test = quote_spanned!(at(span)=> #located::__private::until(value, #hook));
        let answer = if told {
            ours!(#krate::__private::Polled(outcome).succeed())
        } else {
            ours!(outcome)
        };
        ours! {
            let cause = match #krate::__private::Polled(&outcome).reattempt_cause(|value| #test) {
                ::core::option::Option::None => break #label #answer,
                ::core::option::Option::Some(cause) => cause,
            };
        }
    }

    /// Traits whose methods the types choose among; named nothing.
    pub(super) fn uses(&self) -> TokenStream {
        let krate = &self.krate;
        match self.model.until {
            Some(_) => ours!(use #krate::__private::{Whole as _, WholeEnd as _};),
            None => TokenStream::new(),
        }
    }

    /// Where a success goes: past `fallback`.
    fn label(&self) -> TokenStream {
        self.model
            .fallback
            .as_ref()
            .map_or_else(TokenStream::new, |_| ours!('answer))
    }

    /// The verdict on the error of `cause`.
    fn verdict(&self) -> TokenStream {
        let krate = &self.krate;
        let on = match &self.model.on {
            // Nothing will be retried, so nobody need say what would be.
            None if self.model.is_single_attempt() => ours!({
                let _ = error;
                #krate::Verdict::Permanent
            }),
            Some(predicate) if self.model.wants_proof() => self.asked(predicate, "judge_by_proof"),
            Some(predicate) => self.asked(predicate, "judge"),
            None => {
                let span = self.model.error_span;
                let krate = self.model.krate_at(span);
                quote_spanned!(at(span)=> #krate::__private::classify(error))
            }
        };
        let verdict = match &self.model.except {
            Some(predicate) => {
                let except = self.asked(predicate, "exclude");
                ours!(#krate::__private::unless(#except, || #on))
            }
            None => on,
        };
        ours!(#krate::__private::verdict(cause, |error| #verdict))
    }

    /// `on` or `except`, asked about `error`.
    fn asked(&self, predicate: &Predicate, how: &str) -> TokenStream {
        match predicate {
            Predicate::Pattern(pattern) => {
                let (krate, how) = (&self.krate, method(how));
                ours!(#krate::__private::#how(error, |error| ::core::matches!(error, #pattern)))
            }
            Predicate::Code(code) => {
                let (span, hook) = (code.span(), hook(code));
                // The name carries the bound on what the hook answers.
                let (krate, how) = (self.model.krate_at(span), Ident::new(how, at(span)));
                quote_spanned!(at(span)=> #krate::__private::#how(error, #hook))
            }
        }
    }

    /// `let verdict = ...;`. After an ambiguous failure `verify` is asked, which
    /// may leave the loop with a success.
    pub(super) fn judged(&self, settle: impl FnOnce(TokenStream) -> TokenStream) -> TokenStream {
        let (krate, verdict) = (&self.krate, self.verdict());
        let Some(code) = &self.model.verify else {
            return ours!(let verdict = #verdict;);
        };
        let (span, hook) = (code.span(), hook(code));
        let located = self.model.krate_at(span);
        let asked = settle(quote_spanned!(at(span)=> #located::__private::ask(error, #hook)));
        let found = quote_spanned!(at(span)=> #located::__private::found(#asked));
        let (label, operation) = (self.label(), self.operation());
        ours! {
            let verdict = #verdict;
            let verdict = match #krate::__private::ambiguous(#operation, cause, verdict) {
                ::core::option::Option::None => verdict,
                ::core::option::Option::Some(error) => match #found {
                    ::core::result::Result::Ok(answer) => break #label answer,
                    ::core::result::Result::Err(verdict) => verdict,
                },
            };
        }
    }

    pub(super) fn on_retry(&self) -> TokenStream {
        self.model
            .on_retry
            .as_ref()
            .map_or_else(TokenStream::new, |code| {
                let (span, hook) = (code.span(), hook(code));
                let krate = self.model.krate_at(span);
                quote_spanned!(at(span)=> #krate::__private::observe(&retry, #hook);)
            })
    }

    /// The statement for `before_retry`; `settle` awaits a future.
    pub(super) fn before_retry(
        &self,
        settle: impl FnOnce(TokenStream) -> TokenStream,
    ) -> Option<TokenStream> {
        self.model.before_retry.as_ref().map(|code| {
            let (span, hook) = (code.span(), hook(code));
            let krate = self.model.krate_at(span);
            let reply = settle(quote_spanned!(at(span)=> #krate::__private::before(&retry, #hook)));
            quote_spanned!(at(span)=> let () = #reply;)
        })
    }

    /// The answer when giving up, before `fallback`.
    pub(super) fn give_up(&self) -> TokenStream {
        let krate = &self.krate;
        match (&self.model.until, self.answer) {
            (Some(_), Answer::Failed(..)) => ours!(#krate::__private::Polled(outcome).tell(end)),
            (Some(_), _) => {
                let span = self.model.error_span;
                let krate = self.model.krate_at(span);
                quote_spanned!(at(span)=> #krate::__private::Polled(outcome).reattempt_end(end))
            }
            (None, Answer::Failed(..)) => ours!(#krate::__private::tell(error, end)),
            (None, _) => {
                let span = self.answer_span();
                let krate = self.model.krate_at(span);
                quote_spanned!(at(span)=> #krate::__private::fail(error))
            }
        }
    }

    /// Whether the answer when giving up needs to know why.
    pub(super) fn wants_end(&self) -> bool {
        self.model.until.is_some() || matches!(self.answer, Answer::Failed(..))
    }

    /// No attempt starts after the deadline, however long `before_retry` took.
    pub(super) fn over(&self, end: &TokenStream, give_up: &TokenStream) -> TokenStream {
        if !self.model.may_have_deadline() {
            return TokenStream::new();
        }
        let (krate, until, timer) = (&self.krate, self.until(), &self.timer);
        ours! {
            if #krate::__private::is_over(#until, #timer) {
                let #end = #krate::__private::over(&call);
                break #give_up
            }
        }
    }

    /// Whether anything looks at a retry that is about to happen.
    pub(super) fn has_hooks(&self) -> bool {
        self.model.on_retry.is_some() || self.model.before_retry.is_some()
    }

    /// `looped`, after which the parameters are used up of which the attempts got
    /// clones: else they count as such that need not be passed by value.
    pub(super) fn used_up(&self, looped: TokenStream) -> TokenStream {
        let cloned = self.model.clone.iter().map(|(name, _)| name);
        let cloned: Vec<_> = cloned.filter(|name| *name != "self").collect();
        if cloned.is_empty() {
            return looped;
        }
        ours! {
            let answer = #looped;
            ::core::mem::drop((#(#cloned,)*));
            answer
        }
    }

    /// `looped`, and what `fallback` makes of its answer when it gave up. `settle`
    /// makes a value of what the hook gave: async functions await it.
    pub(super) fn with_fallback(
        &self,
        looped: TokenStream,
        settle: impl FnOnce(TokenStream) -> TokenStream,
    ) -> TokenStream {
        let Some(code) = &self.model.fallback else {
            return looped;
        };
        let (span, hook) = (code.span(), hook(code));
        let krate = self.model.krate_at(span);
        let answered = quote_spanned!(at(span)=> #krate::__private::fall_back(end, #hook));
        let settled = settle(quote_spanned!(at(span)=> value));
        let answer = quote_spanned!(at(span)=> #krate::__private::Answer::answer(#settled));
        ours! {
            'answer: {
                let end = #looped;
                match #answered {
                    ::core::result::Result::Ok(answer) => answer,
                    ::core::result::Result::Err(value) => #answer,
                }
            }
        }
    }
}

/// The name of a binding, or `_` where nothing reads it.
pub(super) fn used(name: TokenStream, is_used: bool) -> TokenStream {
    if is_used { name } else { ours!(_) }
}

/// The hook as a function of one parameter; a closure without any is called without.
fn hook(code: &Expr) -> TokenStream {
    match code {
        Expr::Closure(closure) if closure.inputs.is_empty() => {
            let span = at(code.span());
            quote_spanned!(span=> |_| (#code)())
        }
        _ => code.to_token_stream(),
    }
}

pub(super) fn method(word: &str) -> Ident {
    Ident::new(word, Span::mixed_site())
}
