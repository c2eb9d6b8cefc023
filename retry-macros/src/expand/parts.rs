//! The pieces that the sync and the async loop share.

use proc_macro2::{Group, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, Ident};

use reattempt_syntax::args::Predicate;
use reattempt_syntax::item::{Answer, has_word};
use reattempt_syntax::model::{Model, at, located};
use reattempt_syntax::rename::self_to;

/// What the loops are made of, each as an expression.
#[derive(Clone)]
pub(super) struct Parts<'m> {
    pub(super) model: &'m Model,
    pub(super) answer: &'m Answer,
    pub(super) asynchronous: bool,
    pub(super) krate: TokenStream,
    /// A reference to the user's timer, or to the one for this kind of function. One that is not a place is kept.
    pub(super) timer: TokenStream,
    /// The same for a future that keeps it; ours has no size.
    pub(super) timer_kept: TokenStream,
    /// The call began by asking whether its policy has anything to say before something fails.
    pub(super) asks_once: bool,
}

impl<'m> Parts<'m> {
    pub(super) fn blocking(model: &'m Model, answer: &'m Answer) -> Self {
        Self::new(model, answer, false, "BLOCKING_TIMER")
    }

    pub(super) fn asynchronous(model: &'m Model, answer: &'m Answer) -> Self {
        Self::new(model, answer, true, "ASYNC_TIMER")
    }

    fn new(model: &'m Model, answer: &'m Answer, asynchronous: bool, default_timer: &str) -> Self {
        let krate = model.krate();
        let (timer, timer_kept) = if let Some(timer) = &model.timer {
            let span = at(timer.span());
            // A place is read where it stands, so that nothing borrows it while an attempt runs.
            let timer = if is_place(timer) {
                quote_spanned!(span=> &(#timer))
            } else {
                let timer = Ident::new("timer", span);
                quote_spanned!(span=> &#timer)
            };
            (timer.clone(), timer)
        } else {
            let default = method(default_timer);
            let timer = ours!(#krate::__private::#default);
            (ours!(&#timer), timer)
        };
        let mut parts = Self {
            model,
            answer,
            asynchronous,
            krate,
            timer,
            timer_kept,
            asks_once: false,
        };
        parts.asks_once = parts.may_ask_once();
        parts
    }

    /// The moment at which the policy's own deadline ends the call.
    pub(super) fn until(&self) -> TokenStream {
        let krate = &self.krate;
        if self.model.may_have_bounds() {
            ours!(until)
        } else {
            ours!(#krate::__private::Until::NEVER)
        }
    }

    /// What a call keeps in view, as an expression: what is retried, until when, and by which timer.
    pub(super) fn context(&self) -> TokenStream {
        let (krate, until, timer) = (&self.krate, self.until(), &self.timer);
        if self.model.named.is_some() {
            return ours!(#krate::__private::CallContext::live(&__REATTEMPT_SITE, &live, #until, #timer));
        }
        if !self.has_constant_context() {
            // Here the compiler reports an expression that is not a timer.
            let (policy, span) = (self.policy_ref(), self.timer_span());
            let krate = self.model.krate_at(span);
            return quote_spanned!(at(span)=> #krate::__private::CallContext::new(&__REATTEMPT_SITE, #policy, #until, #timer));
        }
        if self.model.may_have_bounds() {
            ours!(context(until))
        } else {
            ours!(context())
        }
    }

    /// A call out of line, with a context that a closure makes where the policy is constant, which then folds there.
    pub(super) fn out_of_line(&self, call: impl FnOnce(TokenStream) -> TokenStream) -> TokenStream {
        if self.model.timer.is_none() || !self.has_constant_policy() {
            return call(self.lazy_context());
        }
        let (policy, until, timer, span) = (
            self.policy_ref(),
            self.until(),
            &self.timer,
            self.timer_span(),
        );
        let krate = self.model.krate_at(span);
        let call = call(
            quote_spanned!(at(span)=> || #krate::__private::CallContext::new(&__REATTEMPT_SITE, #policy, #until, timer)),
        );
        // The closure captures this reference alone, so the constant policy folds out of line.
        ours!({ let timer = #timer; #call })
    }

    /// The same for a function out of line: a closure that makes it, so that a constant policy folds there.
    fn lazy_context(&self) -> TokenStream {
        let context = self.context();
        if !self.has_constant_context() {
            context
        } else if self.model.may_have_bounds() {
            ours!(|| #context)
        } else {
            ours!(context)
        }
    }

    /// The same as a closure, for what seldom needs it. A timer or a policy that is made in place would not outlive it.
    pub(super) fn deferred_context(&self) -> TokenStream {
        let context = self.lazy_context();
        let is_made = self.model.timer.is_some() || !self.has_policy_in_place();
        if self.has_constant_context() || is_made {
            context
        } else {
            ours!(|| #context)
        }
    }

    /// The same for an attempt, while which nothing may borrow the policy.
    pub(super) fn attempt_context(&self) -> TokenStream {
        if self.has_constant_context() {
            return self.lazy_context();
        }
        let (until, timer, span) = (self.until(), &self.timer, self.timer_span());
        let krate = self.model.krate_at(span);
        quote_spanned!(at(span)=> #krate::__private::CallContext::of_attempt(#until, #timer))
    }

    /// `let context = ...;`: a closure that captures nothing, where all of it is constant.
    pub(super) fn constant_context(&self) -> TokenStream {
        if !self.has_constant_context() {
            return TokenStream::new();
        }
        let (krate, policy, timer) = (&self.krate, self.policy_ref(), &self.timer);
        // The deadline is a parameter: the closure is made before the call has one.
        if self.model.may_have_bounds() {
            return ours! {
                let context = |until| #krate::__private::CallContext::new(&__REATTEMPT_SITE, #policy, until, #timer);
            };
        }
        let make = method(if self.asynchronous {
            "asynchronous"
        } else {
            "blocking"
        });
        ours!(let context = || #krate::__private::CallContext::#make(&__REATTEMPT_SITE, #policy);)
    }

    pub(super) fn has_constant_context(&self) -> bool {
        self.has_constant_policy() && self.model.timer.is_none()
    }

    fn has_constant_policy(&self) -> bool {
        self.model.named.is_none() && !self.model.is_running()
    }

    /// Where the compiler reports an expression that is not a timer.
    pub(super) fn timer_span(&self) -> Span {
        let timer = self.model.timer.as_ref();
        timer.map_or_else(Span::mixed_site, syn::spanned::Spanned::span)
    }

    /// The name of a function that waits.
    pub(super) fn at_timer(&self, name: &str) -> Ident {
        Ident::new(name, at(self.timer_span()))
    }

    /// `let timer = ...;` where the expression is evaluated once. Whether an async function can wait with it is asked
    /// here, before anything takes it for a clock.
    pub(super) fn kept_timer(&self) -> Option<TokenStream> {
        let expr = self.model.timer.as_ref()?;
        let (span, krate) = (at(expr.span()), self.model.krate_at(expr.span()));
        let name = Ident::new("timer", span);
        let kept = (!is_place(expr)).then(|| ours!(let #name = #expr;));
        let timer = &self.timer;
        let asked = (self.asynchronous)
            .then(|| quote_spanned!(span=> #krate::__private::waits_with(#timer);));
        Some(ours!(#kept #asked))
    }

    /// `let attempt = ...;` for the key `context`.
    pub(super) fn context_bound(&self) -> TokenStream {
        let (krate, until, timer) = (&self.krate, self.until(), &self.timer);
        self.model.context.as_ref().map_or_else(TokenStream::new, |name| {
            ours!(let #name = #krate::__private::Started::attempt(&started, &call, #until, #timer);)
        })
    }

    /// Never runs: a parameter that an attempt borrows alone need not be `Sync` for the future to be `Send`.
    pub(super) fn borrowed(&self) -> Option<TokenStream> {
        let krate = &self.krate;
        let (values, references) = (&self.model.borrowed, &self.model.reborrowed);
        // A mutable borrow asks for `Send` where a shared one asks for `Sync`.
        (!(values.is_empty() && references.is_empty())).then(|| {
            ours! {
                if let ::core::option::Option::Some(()) = #krate::__private::never::<()>() {
                    #(let _ = &mut #values;)*
                    #(let _ = &mut *#references;)*
                }
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
            let krate = self.model.krate_at(name.span());
            let clone =
                quote_spanned!(at(name.span())=> #krate::__private::CopyOf(&#name).for_attempt());
            // By a method: that of the trait is found for types without `Clone`, and carries the
            // message.
            let clone = ours!({ use #krate::__private::UniqueValue as _; #clone });
            clones.extend(ours!(let #mutable #bound = #clone;));
        }
        // What it imports has names that the types in front of it may have, too.
        if has_word(&statements, "use") {
            return ours!(#clones { #statements });
        }
        ours!(#clones #statements)
    }

    /// `let mut call = ...;`, and what a strategy remembers.
    pub(super) fn progress(&self) -> TokenStream {
        let (krate, state) = (&self.krate, self.strategy_state());
        let place = match (self.asynchronous, self.asks_once) {
            // A sync call is not dropped between two attempts, so it need not know its operation.
            (false, _) => ours!(()),
            // Bound first, because the call is made in two places, and two closures would be two
            // types.
            (true, true) => ours!(place),
            (true, false) => ours!(|| &__REATTEMPT_SITE),
        };
        let call = if self.may_be_timed() {
            let context = self.context();
            self.unless_plain(
                ours!(#krate::__private::LiveCall::start(#place, #context)),
                &ours!(#krate::__private::LiveCall::new(#place)),
            )
        } else {
            ours!(#krate::__private::LiveCall::new(#place))
        };
        let history = self.history();
        let place =
            (self.asynchronous && self.asks_once).then(|| ours!(let place = || &__REATTEMPT_SITE;));
        ours!(#place let mut call = #call; #state #history)
    }

    /// Where errors about the answer as a whole belong.
    pub(super) fn answer_span(&self) -> Span {
        self.answer
            .ty()
            .map_or(self.model.error_span, syn::spanned::Spanned::span)
    }

    /// Where a success goes: past `fallback`.
    pub(super) fn label(&self) -> TokenStream {
        self.model
            .fallback
            .as_ref()
            .map_or_else(TokenStream::new, |_| ours!('answer))
    }

    /// The verdict on what failed.
    pub(super) fn verdict(&self) -> TokenStream {
        if self.has_cause() {
            self.verdict_of(&ours!(cause))
        } else {
            self.judgement(&ours!(&error))
        }
    }

    /// The verdict on another cause.
    pub(super) fn verdict_of(&self, cause: &TokenStream) -> TokenStream {
        let (krate, verdict) = (&self.krate, self.judgement(&ours!(error)));
        ours!(#krate::__private::verdict(#cause, |error| #verdict))
    }

    /// The verdict on `error`, an expression of type `&E`.
    pub(super) fn judgement(&self, error: &TokenStream) -> TokenStream {
        let krate = &self.krate;
        let on = match &self.model.on {
            // With one attempt nothing is retried, so no classification is asked for.
            None if self.model.is_single_attempt() => ours!({
                let _ = #error;
                #krate::Verdict::Permanent
            }),
            Some(predicate) if self.model.wants_proof() => {
                self.asked(predicate, "judge_by_proof", error)
            }
            Some(predicate) => self.asked(predicate, "judge", error),
            None => {
                let span = self.model.error_span;
                let krate = self.model.krate_at(span);
                let error = located(error.clone(), at(span));
                if self.answer.holds_error() {
                    quote_spanned!(at(span)=> #krate::__private::classify_holder(#error))
                } else {
                    quote_spanned!(at(span)=> #krate::__private::classify(#error))
                }
            }
        };
        match &self.model.except {
            Some(predicate) => {
                let except = self.asked(predicate, "exclude", error);
                ours!(#krate::__private::unless(#except, || #on))
            }
            None => on,
        }
    }

    /// Whether more than the verdict looks at what failed.
    pub(super) fn has_cause(&self) -> bool {
        self.is_watched() || self.model.verify.is_some()
    }

    /// What failed, as an expression.
    pub(super) fn cause(&self) -> TokenStream {
        let krate = &self.krate;
        if self.has_cause() {
            ours!(cause)
        } else {
            ours!(#krate::attempt::Cause::Error(&error))
        }
    }

    /// `on` or `except`, asked about `error`.
    fn asked(&self, predicate: &Predicate, how: &str, error: &TokenStream) -> TokenStream {
        match predicate {
            Predicate::Pattern(pattern) => {
                let (krate, how) = (&self.krate, method(how));
                ours!(#krate::__private::#how(#error, |error| ::core::matches!(error, #pattern)))
            }
            Predicate::Code(code) => {
                let (span, hook) = (code.span(), hook(code));
                // The name carries the bound on what the hook answers.
                let (krate, how) = (self.model.krate_at(span), Ident::new(how, at(span)));
                quote_spanned!(at(span)=> #krate::__private::#how(#error, #hook))
            }
        }
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
}

/// The name of a binding, or `_` where nothing reads it.
pub(super) fn used(name: TokenStream, is_used: bool) -> TokenStream {
    if is_used { name } else { ours!(_) }
}

/// The hook as a function of one parameter; a closure without any is called without.
pub(super) fn hook(code: &Expr) -> TokenStream {
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

/// Whether an expression is a place: a variable, a field of one, or what one of these points to.
pub(super) fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) => true,
        Expr::Field(field) => is_place(&field.base),
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)) && is_place(&unary.expr),
        Expr::Reference(reference) => is_place(&reference.expr),
        Expr::Paren(paren) => is_place(&paren.expr),
        Expr::Group(group) => is_place(&group.expr),
        // An expression with a renamed `self` is kept as tokens.
        Expr::Verbatim(tokens) => syn::parse2::<Expr>(tokens.clone())
            .is_ok_and(|parsed| !matches!(parsed, Expr::Verbatim(_)) && is_place(&parsed)),
        _ => false,
    }
}
