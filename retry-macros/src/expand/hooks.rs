//! The user's functions around an attempt: what is asked about a failure, and what
//! runs before a retry. They are under the call's deadline, as attempts are, and an
//! async one that outlasts it is cut off.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use reattempt_policy::rules::Key;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprClosure, Pat, ReturnType, Stmt};

use super::outcome::Cutting;
use super::parts::{Parts, hook};
use super::policy::is_item;
use reattempt_syntax::item::closure_of;
use reattempt_syntax::model::at;

impl Parts<'_> {
    /// Statements, and the closure that describes and judges what failed: out of line, unless a hook looks at the verdict.
    pub(super) fn assessed(&self) -> (TokenStream, TokenStream) {
        let failure = self.failure();
        // `verify` may leave the loop or be awaited, which a closure cannot; `retry_after` is asked
        // behind it.
        if self.model.verify.is_none() && self.model.retry_after.is_none() {
            let verdict = self.verdict();
            return (TokenStream::new(), ours!(|| (#failure, #verdict)));
        }
        (self.judged(), ours!(|| (#failure, verdict)))
    }

    /// `let verdict = ...;`, and what `verify` and `retry_after` make of it.
    pub(super) fn judged(&self) -> TokenStream {
        let (verified, delayed) = (self.verified(), self.delayed());
        ours!(#verified #delayed)
    }

    /// After an ambiguous failure `verify` is asked, which may leave the loop with a
    /// success.
    fn verified(&self) -> TokenStream {
        let (krate, verdict) = (&self.krate, self.verdict());
        let Some(code) = &self.model.verify else {
            return ours!(let verdict = #verdict;);
        };
        let (span, hook) = (code.span(), hook(code));
        let located = self.model.krate_at(span);
        let asked = if takes_nothing(code) {
            quote_spanned!(at(span)=> { _ = doubt; #located::__private::unseen(#hook) })
        } else {
            quote_spanned!(at(span)=> #located::__private::ask(doubt, #hook))
        };
        let context = self.context();
        let asked = self.settled(asked, &ours!((&mut call).cut_off(#context, &mut (), false)));
        let found = quote_spanned!(at(span)=> #located::__private::found(asked, verdict));
        let (label, policy) = (self.label(), self.policy_ref());
        let ambiguous = ours!(#krate::__private::ambiguous(#policy, cause, verdict));
        // After a time-out there is no error, so one is made.
        let (made, ambiguous) = if self.cutting() != Cutting::Never && self.model.has(Key::Timeout)
        {
            let failures = ours!(#krate::__private::LiveCall::failures(&call));
            let is_plain = !self.is_reported() && self.form().is_none();
            let error_of = if self.has_cut() && is_plain {
                ours!(|end| ::core::result::Result::err(#krate::__private::split(cut(end))))
            } else {
                quote_spanned!(at(span)=> |end| ::core::option::Option::Some(#located::__private::Unasked::unasked(end)))
            };
            let made = ours!(::core::option::Option::and_then(#krate::__private::unasked(#policy, cause, #failures), #error_of));
            (
                ours!(let unasked = #made;),
                ours!(::core::option::Option::or(#ambiguous, ::core::option::Option::as_ref(&unasked))),
            )
        } else {
            (TokenStream::new(), ambiguous)
        };
        let answered = self.succeeded(&ours!(answer));
        // Anew: while the hook is awaited nothing borrows an error that may not be `Sync`.
        let cause = if self.asynchronous && self.model.until.is_none() {
            self.cause_bound()
        } else {
            TokenStream::new()
        };
        // A lookup that asks the same service does not stand in line behind the attempt that it is about.
        let (aside, back) = if self.model.is_gated() {
            let (gates, timer) = (self.gates(), &self.timer);
            (
                ours!(let was_probe = #krate::__private::Gate::step_aside(#gates);),
                ours!(#krate::__private::Gate::step_back(#gates, was_probe, #timer);),
            )
        } else {
            (TokenStream::new(), TokenStream::new())
        };
        ours! {
            let verdict = #verdict;
            #made
            let verdict = match #ambiguous {
                ::core::option::Option::None => verdict,
                ::core::option::Option::Some(doubt) => {
                    #aside
                    let asked = #asked;
                    #back
                    match #found {
                        ::core::result::Result::Ok(answer) => break #label #answered,
                        ::core::result::Result::Err(verdict) => verdict,
                    }
                }
            };
            #cause
        }
    }

    /// Asked last: what `verify` has found out decides whether there may be another attempt.
    fn delayed(&self) -> TokenStream {
        let Some(code) = &self.model.retry_after else {
            return TokenStream::new();
        };
        let (span, hook) = (code.span(), hook(code));
        let krate = self.model.krate_at(span);
        let (policy, cause) = (self.policy_ref(), self.cause());
        let asked = quote_spanned! {at(span)=>
            #krate::__private::retry_after(#policy, #cause, verdict, #hook)
        };
        ours!(let verdict = #asked;)
    }

    pub(super) fn on_retry(&self) -> TokenStream {
        let Some(code) = &self.model.on_retry else {
            return TokenStream::new();
        };
        let (span, hook) = (code.span(), hook(code));
        let call = self.under_deadline(self.observed(code, &hook, "observe"));
        quote_spanned!(at(span)=> #call;)
    }

    /// The statements for `before_retry`. No attempt starts after the deadline, however long the hook took.
    pub(super) fn before_retry(&self) -> Option<TokenStream> {
        let code = self.model.before_retry.as_ref()?;
        let (span, hook, context) = (code.span(), hook(code), self.context());
        let (end, give_up) = (self.end(), self.give_up());
        let located = self.model.krate_at(span);
        let late = ours!((&mut call).late(#context));
        let ran = if self.asynchronous {
            let reply = if self.shows_retry() {
                self.observed(code, &hook, "before")
            } else {
                quote_spanned!(at(span)=> #located::__private::unseen(#hook))
            };
            let settled = self.settled(reply, &late);
            quote_spanned!(at(span)=> #located::__private::nothing(#settled))
        } else {
            self.settled(self.observed(code, &hook, "observe"), &late)
        };
        Some(quote_spanned! {at(span)=>
            #ran;
            if let ::core::result::Result::Err(#end) = (&mut call).resume(#context) {
                break #give_up;
            }
        })
    }

    /// Whether `before_retry` looks at the retry: unless it is a closure that takes none, or ignores it.
    pub(super) fn shows_retry(&self) -> bool {
        let code = self.model.before_retry.as_ref();
        code.is_some_and(|code| takes_value(code) || !takes_nothing(code))
    }

    /// A hook that looks at the retry, and at the value that `until` refused where it has a parameter for that.
    fn observed(&self, code: &Expr, hook: &TokenStream, how: &str) -> TokenStream {
        let span = at(code.span());
        let located = self.model.krate_at(span);
        if !takes_value(code) {
            let how = Ident::new(how, span);
            return quote_spanned!(span=> #located::__private::#how(&retry, #hook));
        }
        let how = Ident::new(&format!("{how}_value"), span);
        let value = self.refused();
        quote_spanned!(span=> #located::__private::#how(&retry, #value, #hook))
    }

    /// Whether there is a `fallback` that looks at no error, so that it answers also where there is none.
    pub(super) fn answers_anything(&self) -> bool {
        self.model.fallback.as_ref().is_some_and(takes_nothing)
    }

    /// The value of the attempt, if it has one, which `until` has refused.
    fn refused(&self) -> TokenStream {
        let krate = &self.krate;
        if self.cutting() == Cutting::Never {
            return ours!(#krate::__private::Polled(&outcome).reattempt_value());
        }
        ours! {
            match &outcome {
                ::core::result::Result::Ok(outcome) => #krate::__private::Polled(outcome).reattempt_value(),
                ::core::result::Result::Err(_) => ::core::option::Option::None,
            }
        }
    }

    /// Ends the call because time is over; `how` is an expression for its end.
    fn late(&self, how: &TokenStream) -> TokenStream {
        let (end, give_up) = (self.end(), self.give_up());
        ours!({
            let #end = #how;
            break #give_up
        })
    }

    fn under_deadline(&self, hook: TokenStream) -> TokenStream {
        if !self.model.may_have_bounds() {
            return hook;
        }
        let (krate, until, timer) = (&self.krate, self.until(), &self.timer);
        ours!(#krate::__private::hooked(#until, #timer, || #hook))
    }

    /// The value of what a hook gave: in an async function a future is awaited,
    /// and the deadline ends the call if it takes too long.
    fn settled(&self, hook: TokenStream, late: &TokenStream) -> TokenStream {
        let span = at(hook.span());
        let hook = self.under_deadline(hook);
        if !self.asynchronous {
            return hook;
        }
        let (krate, kept, until) = (&self.krate, &self.timer_kept, self.until());
        let future = self.future(&hook, span);
        let late = self.late(late);
        quote_spanned! {span=> {
            let reply = #krate::__private::limited_hook(#future, #until, #kept).await;
            match reply {
                ::core::result::Result::Ok(reply) => reply,
                ::core::result::Result::Err(_) => #late,
            }
        }}
    }

    /// What a hook gave, without a deadline: a future is awaited, anything else is
    /// taken as it is.
    fn awaited(&self, reply: &TokenStream, span: proc_macro2::Span) -> TokenStream {
        if !self.asynchronous {
            return reply.clone();
        }
        let future = self.future(reply, span);
        quote_spanned!(span=> #future.await)
    }

    fn future(&self, reply: &TokenStream, span: proc_macro2::Span) -> TokenStream {
        // A hook may give a future or a value: the one method is found before the other, by the
        // type.
        let krate = &self.krate;
        quote_spanned! {span=> {
            use #krate::__private::{SettleFuture as _, SettleValue as _};
            #krate::__private::Reply(::core::option::Option::Some(#reply)).reattempt_settle()
        }}
    }

    /// Whether anything looks at a retry that is about to happen, or at more than
    /// the failure.
    pub(super) fn is_watched(&self) -> bool {
        let model = self.model;
        // After a time-out there is no error, so all that follows looks at a cause.
        let may_time_out = self.cutting() != Cutting::Never;
        let hooks = model.on_retry.is_some() || model.before_retry.is_some();
        hooks || model.strategy.is_some() || model.until.is_some() || may_time_out
    }

    /// `looped`, and what `fallback` or `map_err` makes of its answer when it gave up.
    pub(super) fn answered(&self, looped: TokenStream) -> TokenStream {
        let looped = self.with_history(looped);
        let Some(code) = &self.model.fallback else {
            return self.mapped(looped);
        };
        let span = code.span();
        let krate = self.model.krate_at(span);
        let hook = ended(code, &krate).unwrap_or_else(|| hook(code));
        let settled = self.awaited(&quote_spanned!(at(span)=> value), at(span));
        let answer = quote_spanned!(at(span)=> #krate::__private::Answer::answer(#settled));
        if self.answers_anything() {
            // The loop answers with nothing, so a call that ends without an error ends here, too.
            let released = self.released();
            let value = quote_spanned!(at(span)=> #krate::__private::unseen(#hook));
            return ours! {
                'answer: {
                    let () = #looped;
                    #released
                    let value = #value;
                    #answer
                }
            };
        }
        let answered = if may_be_value(code) {
            quote_spanned! {at(span)=> {
                use #krate::__private::{FallbackFunction as _, FallbackValue as _};
                #krate::__private::FallbackOf(#hook).reattempt_fall_back(end)
            }}
        } else {
            quote_spanned!(at(span)=> #krate::__private::fall_back(end, #hook))
        };
        // So that a closure knows what its parameter is.
        let annotation = self.answer.annotation();
        let released = self.released();
        ours! {
            'answer: {
                let end #annotation = #looped;
                #released
                match #answered {
                    ::core::result::Result::Ok(answer) => answer,
                    ::core::result::Result::Err(value) => #answer,
                }
            }
        }
    }
}

/// Whether the compiler has to tell that it is a function: a constant, a field, or what a call gives.
fn may_be_value(code: &Expr) -> bool {
    match code {
        Expr::Path(_) => is_item(code),
        Expr::Field(_) | Expr::Call(_) | Expr::MethodCall(_) => true,
        Expr::Group(group) => may_be_value(&group.expr),
        Expr::Paren(paren) => may_be_value(&paren.expr),
        Expr::Verbatim(tokens) => syn::parse2::<Expr>(tokens.clone())
            .is_ok_and(|code| !matches!(code, Expr::Verbatim(_)) && may_be_value(&code)),
        _ => false,
    }
}

/// A closure that ends with `?`, with that in a call that is said to need a `Result`.
fn ended(code: &Expr, krate: &TokenStream) -> Option<TokenStream> {
    if let Expr::Verbatim(tokens) = code {
        let closure: ExprClosure = syn::parse2(tokens.clone()).ok()?;
        return ended(&Expr::Closure(closure), krate);
    }
    let mut closure = closure_of(code)?.clone();
    let end = match &mut *closure.body {
        Expr::Block(body) => match body.block.stmts.last_mut()? {
            Stmt::Expr(end, None) => end,
            _ => return None,
        },
        end => end,
    };
    if !matches!(end, Expr::Try(_)) || !matches!(closure.output, ReturnType::Default) {
        return None;
    }
    let checked = quote_spanned! {at(end.span())=> {
        use #krate::__private::End as _;
        #krate::__private::EndOf(#end).reattempt_fallback()
    }};
    *end = Expr::Verbatim(checked);
    Some(hook(&Expr::Closure(closure)))
}

/// Whether it is a closure that looks at nothing that it is given.
fn takes_nothing(code: &Expr) -> bool {
    closure_is(code, |closure| {
        (closure.inputs.iter()).all(|input| matches!(input, Pat::Wild(_)))
    })
}

/// Whether the closure `code` is such a one; with a renamed `self` it is kept as tokens.
fn closure_is(code: &Expr, is: impl Fn(&ExprClosure) -> bool) -> bool {
    match code {
        Expr::Verbatim(tokens) => syn::parse2(tokens.clone()).is_ok_and(|closure| is(&closure)),
        code => closure_of(code).is_some_and(is),
    }
}

/// Whether it is a closure that takes the value that `until` refused.
fn takes_value(code: &Expr) -> bool {
    closure_is(code, |closure| closure.inputs.len() == 2)
}
