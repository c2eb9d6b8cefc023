//! What bounds the attempts of a call besides its policy: `let mut limits = ...;` before the loop, a question before
//! each attempt, and an attempt that is run in copies.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use retry_runtime::rules::Key;
use syn::Expr;
use syn::spanned::Spanned as _;

use super::parts::Parts;
use retry_syntax::item::mentions;
use retry_syntax::model::{Hedging, Purse, at};

impl Parts<'_> {
    /// The `static` of a budget of the operation's own, which the policy names.
    pub(super) fn own_budget(&self) -> TokenStream {
        match &self.model.budget {
            Some(Purse::Own(budget) | Purse::Named(budget)) => {
                let krate = &self.krate;
                ours!(static __REATTEMPT_BUDGET: #krate::Budget = #budget;)
            }
            _ => TokenStream::new(),
        }
    }

    /// `let mut limits = ...;`: a call begins.
    pub(super) fn start_limits(&self) -> TokenStream {
        let model = self.model;
        if !model.is_limited() {
            return TokenStream::new();
        }
        let (krate, operation, timer) = (&self.krate, self.operation(), &self.timer);
        let (lent_breaker, breaker) = self.gate(model.breaker.as_ref(), "breaker", "breaking");
        let (lent_throttle, throttle) = self.gate(model.throttle.as_ref(), "throttle", "throttled");
        let (lent_budget, purse) = self.purse();
        let fits = self.window_fits();
        ours! {
            #lent_breaker
            #fits
            #lent_throttle
            #lent_budget
            let mut limits = #krate::__private::guards(#breaker, #throttle, #purse, #operation, #timer);
        }
    }

    /// X10 where the breaker or the policy is known only when the call begins.
    fn window_fits(&self) -> TokenStream {
        let model = self.model;
        // The configuration may change at any time, and no call fails for it.
        if model.named.is_some() {
            return TokenStream::new();
        }
        let may_time_out = model.inherited.is_some() || model.has(Key::Timeout);
        let Some(breaker) = model.breaker.as_ref().filter(|_| may_time_out) else {
            return TokenStream::new();
        };
        if self.judges_window(breaker) {
            return TokenStream::new();
        }
        let (span, operation) = (breaker.span(), self.operation());
        let krate = model.krate_at(span);
        let breaker = if let Expr::Reference(_) = breaker {
            ours!(#breaker)
        } else {
            let name = Ident::new("breaker", at(span));
            quote_spanned!(at(span)=> #krate::__private::lent(&#name))
        };
        quote_spanned! {at(span)=>
            #krate::__private::refuse_window(#breaker, #krate::Operation::policy(#operation));
        }
    }

    /// What has to outlive the limits, and the gate.
    fn gate(&self, lender: Option<&Expr>, name: &str, make: &str) -> (TokenStream, TokenStream) {
        let Some(lender) = lender else {
            return (TokenStream::new(), ours!(()));
        };
        let make = Ident::new(make, at(lender.span()));
        self.lent(lender, name, &make)
    }

    fn purse(&self) -> (TokenStream, TokenStream) {
        let krate = &self.krate;
        match (&self.model.budget, &self.model.inherited) {
            (Some(Purse::Lent(lender)), _) => {
                let make = Ident::new("paying", at(lender.span()));
                self.lent(lender, "budget", &make)
            }
            _ if self.model.named.is_some() => {
                let operation = self.operation();
                let purse = ours!(#krate::__private::paying_named(#operation));
                (TokenStream::new(), purse)
            }
            (Some(_), _) => (TokenStream::new(), by_policy(krate, &ours!(true))),
            (None, Some(inherited)) => {
                let policy = &inherited.expr;
                let located = self.model.krate_at(policy.span());
                let is_budgeted = if inherited.constant
                    && !mentions(&ours!(#policy), &self.model.generics)
                {
                    let asked =
                        quote_spanned!(at(policy.span())=> #located::__private::inherited(#policy));
                    ours!({ #krate::Policy::is_budgeted(&#asked) })
                } else {
                    ours!(true)
                };
                (TokenStream::new(), by_policy(krate, &is_budgeted))
            }
            (None, None) => (TokenStream::new(), ours!(())),
        }
    }

    /// A reference is taken as it is; what an expression gives is kept.
    fn lent(&self, lender: &Expr, name: &str, make: &Ident) -> (TokenStream, TokenStream) {
        let krate = self.model.krate_at(lender.span());
        if matches!(lender, Expr::Reference(_)) {
            let lent = quote_spanned!(at(lender.span())=> #krate::__private::#make(#lender));
            return (TokenStream::new(), lent);
        }
        let name = Ident::new(name, at(lender.span()));
        (
            quote_spanned!(at(lender.span())=> let #name = #lender;),
            quote_spanned!(at(lender.span())=> #krate::__private::#make(#krate::__private::lent(&#name))),
        )
    }

    /// The limits, as the steps of the loop take them.
    pub(super) fn limits(&self) -> TokenStream {
        if self.model.is_limited() {
            ours!(&mut limits)
        } else {
            ours!(&mut ())
        }
    }

    /// Before the first attempt the call may be turned away where there is no error of its own.
    pub(super) fn entered(&self) -> TokenStream {
        let (krate, model) = (&self.krate, self.model);
        if !model.is_gated() {
            return TokenStream::new();
        }
        let located = model.krate_at(model.error_span);
        let cut = quote_spanned!(at(model.error_span)=> let cut = #located::__private::cut(););
        let entered = self.asked_for_entry(&ours!(end), &ours!({ #cut break cut(end) }));
        ours!(if #krate::__private::Progress::failures(call) == 0 { #entered })
    }

    /// Before a retry, while the error before it is there, which then is that of the call.
    pub(super) fn entered_again(&self) -> TokenStream {
        let (krate, timer) = (&self.krate, &self.timer);
        if self.model.is_gated() {
            let (end, give_up) = (self.end(), self.give_up());
            self.asked_for_entry(&end, &ours!(break #give_up))
        } else if self.model.is_limited() {
            ours!(#krate::__private::begun(&mut limits, #timer);)
        } else {
            TokenStream::new()
        }
    }

    fn asked_for_entry(&self, end: &TokenStream, turned_away: &TokenStream) -> TokenStream {
        let (krate, operation, until, timer) =
            (&self.krate, self.operation(), self.until(), &self.timer);
        let turned_away = ours!(::core::result::Result::Err(#end) => #turned_away,);
        if !self.asynchronous {
            return ours! {
                match #krate::__private::entered(&mut limits, &call, #operation, #until, #timer) {
                    ::core::result::Result::Ok(()) => {}
                    #turned_away
                }
            };
        }
        if self.model.throttle.is_some() {
            return ours! {
                match #krate::__private::entered_in_line(&mut limits, &call, #operation, #until, #timer).await {
                    ::core::result::Result::Ok(()) => {}
                    #turned_away
                }
            };
        }
        ours! {
            match #krate::__private::enter(&mut limits, &call, #operation, #until, #timer) {
                ::core::result::Result::Ok(_) => #krate::__private::begun(&mut limits, #timer),
                #turned_away
            }
        }
    }

    /// A success on its way out.
    pub(super) fn answered(&self, answer: &TokenStream) -> TokenStream {
        if !self.model.is_limited() {
            return answer.clone();
        }
        let (krate, operation, timer) = (&self.krate, self.operation(), &self.timer);
        let answered = self.step("answered");
        ours!(#krate::__private::#answered(#answer, &mut limits, #operation, #timer))
    }

    /// What the call still holds goes back before others are asked.
    pub(super) fn released(&self) -> TokenStream {
        if !self.model.is_limited() {
            return TokenStream::new();
        }
        let krate = &self.krate;
        ours!(#krate::__private::released(limits);)
    }

    /// The future of an attempt, or of as many copies as `hedge` allows.
    pub(super) fn hedged(&self, attempt: TokenStream) -> TokenStream {
        let Some(Hedging {
            value,
            measures,
            span,
            ..
        }) = &self.model.hedge
        else {
            return attempt;
        };
        let (krate, timer, kept) = (&self.krate, &self.timer, &self.timer_kept);
        let located = self.model.krate_at(*span);
        let latencies = if *measures {
            ours!(const {
                static LATENCIES: #krate::Latencies = #krate::Latencies::new();
                ::core::option::Option::Some(&LATENCIES)
            })
        } else {
            ours!(::core::option::Option::None)
        };
        let pays = if self.model.is_limited() {
            let operation = self.operation();
            ours!(|| #krate::__private::pays(&mut limits, #operation, #timer))
        } else {
            ours!(|| true)
        };
        let verdict = self.verdict_of(&ours!(#krate::Cause::Error(error)));
        let ended = if self.model.until.is_some() {
            ours! {
                match #krate::__private::Polled(outcome).reattempt_cause(|_| true) {
                    ::core::option::Option::Some(#krate::Cause::Error(error)) => #krate::__private::ended(#verdict),
                    _ => #krate::__private::Ended::Well,
                }
            }
        } else {
            ours! {
                match #krate::__private::failure(outcome) {
                    ::core::option::Option::Some(error) => #krate::__private::ended(#verdict),
                    ::core::option::Option::None => #krate::__private::Ended::Well,
                }
            }
        };
        let hedge = quote_spanned!(at(*span)=> #located::__private::HedgeOf(#value).hedge());
        ours! {
            #krate::__private::hedged(const { #hedge }, #latencies, #kept, || #attempt, |outcome| #ended, #pays)
        }
    }
}

fn by_policy(krate: &TokenStream, is_budgeted: &TokenStream) -> TokenStream {
    ours!(<#krate::__private::IsBudgeted<#is_budgeted> as #krate::__private::ByPolicy>::PURSE)
}
