//! What bounds the attempts of a call besides its policy: `let mut limits = ...;` before the loop, a question before
//! each attempt, and an attempt that is run in copies.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use reattempt_policy::rules::Key;
use syn::Expr;
use syn::spanned::Spanned as _;

use super::parts::Parts;
use super::policy::names_static;
use reattempt_syntax::item::mentions;
use reattempt_syntax::model::{BudgetSource, Hedging, Model, at};

/// The code of a call with a key that shares something between calls, which is refused where there is no `std`.
pub(super) fn sharing(model: &Model, code: TokenStream) -> TokenStream {
    let span = |code: &Option<Expr>| code.as_ref().map(Expr::span);
    let of_budget = || {
        let mut settings = model.settings.iter();
        let own = !matches!(model.budget, None | Some(BudgetSource::Never));
        settings
            .find(|it| own && it.key == Key::Budget)
            .map(|it| it.word)
    };
    let keys = [
        ("breaker", span(&model.breaker)),
        ("bulkhead", span(&model.bulkhead)),
        ("throttle", span(&model.throttle)),
        ("hedge", model.hedge.as_ref().map(|hedge| hedge.span)),
        ("budget", of_budget()),
    ];
    let found = keys.into_iter().find_map(|(key, span)| Some((key, span?)));
    let Some((key, span)) = found else {
        return code;
    };
    let krate = model.krate_at(span);
    quote_spanned!(at(span)=> #krate::__private::needs_std! { #key #code })
}

impl Parts<'_> {
    /// The `static` of a budget of the operation's own, which the policy names.
    pub(super) fn own_budget(&self) -> TokenStream {
        let krate = &self.krate;
        match &self.model.budget {
            Some(BudgetSource::Own(budget)) => {
                let (span, located) = (budget.span(), self.model.krate_at(budget.span()));
                let paying = quote_spanned!(at(span)=> #located::__private::paying(#budget));
                ours!(static __REATTEMPT_BUDGET: #krate::Budget = #paying;)
            }
            Some(BudgetSource::Named(expr)) => {
                let (span, located) = (at(expr.span()), self.model.krate_at(expr.span()));
                // A `static` cannot be moved: of a `match` the compiler says how it is borrowed.
                let check = quote_spanned!(span=> { match #expr { budget => #located::__private::BudgetOf(budget).check() } });
                let check = self.constant_item(&check);
                let own = quote_spanned!(span=> match #expr { budget => #located::__private::BudgetOf(budget).own() });
                ours!(#check static __REATTEMPT_BUDGET: #krate::Budget = #own;)
            }
            _ => TokenStream::new(),
        }
    }

    /// `let mut gates = ...;`: a call begins.
    pub(super) fn start_gates(&self) -> TokenStream {
        let model = self.model;
        if !model.is_limited() {
            return TokenStream::new();
        }
        let krate = &self.krate;
        let (shared_breaker, breaker) =
            self.gate(model.breaker.as_ref(), "breaker", "BreakerGate", None);
        let (shared_bulkhead, bulkhead) =
            self.gate(model.bulkhead.as_ref(), "bulkhead", "BulkheadGate", None);
        let (shared_throttle, throttle) =
            self.gate(model.throttle.as_ref(), "throttle", "ThrottleGate", None);
        // In front of the loop: dropped anywhere, by a panic too, the gates give back what they
        // hold.
        let (shared_budget, budget) = self.budget_gate();
        ours! {
            #shared_breaker
            #shared_bulkhead
            #shared_throttle
            #shared_budget
            let mut gates = #krate::__private::Gates::new(#breaker, #bulkhead, #throttle, #budget);
        }
    }

    /// What has to outlive the gates, and the gate `make` of what `expr` shares. A reference is taken as it is; what any
    /// other expression gives is kept.
    fn gate(
        &self,
        expr: Option<&Expr>,
        name: &str,
        make: &str,
        clock: Option<&TokenStream>,
    ) -> (TokenStream, TokenStream) {
        let Some(expr) = expr else {
            return (TokenStream::new(), ours!(()));
        };
        let (krate, span) = (self.model.krate_at(expr.span()), at(expr.span()));
        let (name, make) = (Ident::new(name, span), Ident::new(make, span));
        let clock = clock.map(|clock| ours!(, #clock));
        if matches!(expr, Expr::Reference(_)) {
            // `of_static` refuses a constant: each use of one is a new breaker, which never sees
            // the other calls.
            let shared = if names_static(expr) {
                quote_spanned!(span=> #krate::__private::of_static(#expr))
            } else {
                ours!(#expr)
            };
            let gate = quote_spanned!(span=> #krate::__private::#make::new(#shared #clock));
            return (TokenStream::new(), gate);
        }
        (
            quote_spanned!(span=> let #name = #expr;),
            quote_spanned!(span=> #krate::__private::#make::new(#krate::__private::shared(&#name) #clock)),
        )
    }

    fn budget_gate(&self) -> (TokenStream, TokenStream) {
        let (krate, timer) = (&self.krate, &self.timer);
        match (&self.model.budget, &self.model.inherited) {
            (Some(BudgetSource::Borrowed(expr)), _) => {
                return self.gate(Some(expr), "budget", "BudgetGate", Some(timer));
            }
            // With a name a file may say more.
            (None, None) | (Some(BudgetSource::Never), _) if self.model.named.is_none() => {
                return (TokenStream::new(), ours!(()));
            }
            _ => {}
        }
        // A constant policy without a budget keeps nothing for one.
        let known = self.known_policy().filter(|_| self.model.budget.is_none());
        let is_budgeted = known.map_or_else(
            || ours!(true),
            |policy| ours!({ #krate::Policy::is_budgeted(&#policy) }),
        );
        let policy = self.limit_ref(Key::Budget);
        let gate = ours! {
            <#krate::__private::IsBudgeted<#is_budgeted> as #krate::__private::BudgetByPolicy>::gate(#policy, #timer)
        };
        let none = ours!(<#krate::__private::IsBudgeted<#is_budgeted> as #krate::__private::BudgetByPolicy>::NONE);
        (TokenStream::new(), self.unless_plain(gate, &none))
    }

    /// `let start = ...;`: when an attempt begins, where the policy may want to know. For a constant policy that does
    /// not it takes no place.
    pub(super) fn attempt_start(&self) -> TokenStream {
        if !self.model.may_reset() {
            return TokenStream::new();
        }
        let (krate, timer, policy) = (&self.krate, &self.timer, self.limit_ref(Key::ResetAfter));
        let taken = self.known_policy().map_or_else(
            || ours!(1),
            |policy| ours!({ #krate::Policy::kept_starts(&#policy) }),
        );
        let start = self.unless_plain(
            ours!(#krate::__private::AttemptStart::<#taken>::now(#policy, #timer)),
            &ours!(#krate::__private::AttemptStart::NONE),
        );
        ours!(let start = #start;)
    }

    /// An inherited policy that the compiler can look at, and an item too.
    pub(super) fn known_policy(&self) -> Option<TokenStream> {
        let inherited = self.model.inherited.as_ref();
        let policy = self.policy();
        let is_known = inherited.is_some()
            && !self.model.is_running()
            && !mentions(&policy, &self.model.generics);
        is_known.then_some(policy)
    }

    /// The gates, as the steps of the loop take them.
    pub(super) fn gates(&self) -> TokenStream {
        if self.model.is_limited() {
            ours!(&mut gates)
        } else {
            ours!(&mut ())
        }
    }

    /// Before the first attempt the call may be turned away where there is no error of its own.
    pub(super) fn entered(&self) -> TokenStream {
        let model = self.model;
        if !model.is_gated() {
            return TokenStream::new();
        }
        let (end, turned_away) = if self.answers_anything() {
            (ours!(_), ours!(break))
        } else {
            let cut = self.cut();
            (ours!(end), ours!({ #cut break cut(end) }))
        };
        let entered = self.entry(&end, &turned_away);
        let krate = &self.krate;
        // A call without an attempt has no error, so its answer is made of a `GaveUp`; before a
        // retry the error is there (`entered_again`).
        ours!(if #krate::__private::LiveCall::failures(&call) == 0 { #entered })
    }

    /// Before a retry, while the error before it is there, which then is that of the call.
    pub(super) fn entered_again(&self) -> TokenStream {
        if self.model.is_gated() {
            let (end, give_up) = (self.end(), self.give_up());
            self.entry(&end, &ours!(break #give_up))
        } else if self.model.is_limited() {
            let context = self.context();
            ours!((&mut call).begin(#context, &mut gates);)
        } else {
            TokenStream::new()
        }
    }

    fn entry(&self, end: &TokenStream, turned_away: &TokenStream) -> TokenStream {
        let (context, enter) = (self.context(), self.at_timer("enter"));
        let entered = if !self.asynchronous {
            ours!((&mut call).#enter(#context, &mut gates))
        // Only a throttle lets a call wait, which would be one more place to wait in the future.
        } else if self.model.throttle.is_some() {
            ours!((&mut call).enter_async(#context, &mut gates).await)
        } else {
            ours!((&mut call).enter_at_once(#context, &mut gates))
        };
        ours! {
            if let ::core::result::Result::Err(#end) = #entered {
                #turned_away
            }
        }
    }

    /// What the call still holds goes back before others are asked.
    pub(super) fn released(&self) -> TokenStream {
        if !self.model.is_limited() {
            return TokenStream::new();
        }
        let krate = &self.krate;
        ours!(#krate::__private::Gates::release(gates);)
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
        let (krate, kept) = (&self.krate, &self.timer_kept);
        let located = self.model.krate_at(*span);
        let latencies = if *measures {
            ours!(const {
                static LATENCIES: #krate::overload::Latencies = #krate::overload::Latencies::new();
                ::core::option::Option::Some(&LATENCIES)
            })
        } else {
            ours!(::core::option::Option::None)
        };
        let (context, gates) = (self.context(), self.gates());
        let pays = ours!(|| #krate::__private::CallContext::permits_copy(&#context, #gates));
        let verdict = self.verdict_of(&ours!(#krate::attempt::Cause::Error(error)));
        let ended = if self.model.until.is_some() {
            ours! {
                match #krate::__private::Polled(outcome).reattempt_cause(|_| true) {
                    ::core::option::Option::Some(#krate::attempt::Cause::Error(error)) => #krate::__private::ended(#verdict),
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
        // Evaluated in a constant, so that a wrong hedge does not compile. The attempt is a
        // closure, since there are several futures at once: it cannot borrow a parameter mutably.
        let hedge = quote_spanned!(at(*span)=> #located::__private::HedgeOf(#value).hedge());
        ours! {
            #krate::__private::hedged(#krate::__private::CopiesOf::new(&call, #context), const { #hedge }, #latencies, #kept, || #attempt, |outcome| #ended, #pays)
        }
    }
}
