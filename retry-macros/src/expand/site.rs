//! The place in the code: every expansion has one. `policy = "storage"`, and the kill switch.
//!
//! ```text
//! static SITE: Site = named!(NAME, "storage", INLINE_POLICY);
//! let mut live = SITE.call();             // nothing, unless the policy counts from the start
//! loop {
//!     ...                                 // an attempt that fails
//!     live = SITE.renew(live);            // one snapshot for all of the decision
//!     ...
//! }
//! ```
//!
//! Each wait is followed by a look at the switch and the deadline. The error that the call then ends
//! with is kept through an async wait where its type allows, and where the call may end at all: the
//! runtime decides.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote_spanned};
use reattempt_policy::rules::Key;

use super::outcome::first_outcome;
use super::parts::Parts;
use reattempt_syntax::model::{OperationName, at};

impl Parts<'_> {
    /// The `static` of the place, and the policy that it has by name.
    pub(super) fn site(&self) -> TokenStream {
        let (krate, name) = (&self.krate, self.name());
        // A `static`, also in a generic function: all its instances are one operation.
        let Some(named) = &self.model.named else {
            let site = if self.shares_default_budget() {
                ours!(#krate::__private::site!(#name))
            } else {
                ours!(#krate::__private::Site::new(#name))
            };
            return ours!(static __REATTEMPT_SITE: #krate::__private::Site = #site;);
        };
        let (policy, cuts_off) = (self.policy(), self.asynchronous && self.model.cut_off);
        let refused = self.model.krate_at(named.span());
        let site = quote_spanned!(at(named.span())=> #refused::__private::named!(#name, #named, #policy, #cuts_off));
        // Looked up at the start only for gates and hedges; otherwise a success pays for none of
        // it.
        let call = if self.holds_from_start() {
            ours!(held)
        } else {
            ours!(call)
        };
        let site = if self.shares_default_budget() {
            ours!(#krate::__private::sharing!(#site))
        } else {
            site
        };
        ours! {
            static __REATTEMPT_SITE: #krate::__private::Site = #site;
            let mut live = #krate::__private::Site::#call(&__REATTEMPT_SITE);
        }
    }

    /// Whether its calls may share the budget that an operation has by default.
    pub(super) fn shares_default_budget(&self) -> bool {
        let model = self.model;
        let is_limited = model.budget.is_some() || model.strategy.is_some();
        let is_known = model.named.is_none() && model.is_literal();
        !is_limited && (!is_known || model.known.has_default_budget())
    }

    /// Whether a named policy is at hand from the start: what a gate and a hedge ask, they ask before anything fails.
    pub(super) fn holds_from_start(&self) -> bool {
        self.model.is_gated() || self.model.hedge.is_some()
    }

    /// The name, as an expression that is constant.
    fn name(&self) -> TokenStream {
        let krate = &self.krate;
        match &self.model.name {
            OperationName::Given(name) => {
                let keys = super::keys(krate, &self.model.keys);
                let name = keys.map_or_else(|| name.clone(), |keys| ours!({ #keys #name }));
                ours!(#krate::__private::Name::Given(#name))
            }
            OperationName::Function(name) => {
                let keys = &self.model.keys;
                ours!(#krate::__private::name!(#name #(#keys)*))
            }
        }
    }

    /// After a failure, before anything is decided.
    pub(super) fn renewed(&self) -> TokenStream {
        if self.model.named.is_none() {
            return TokenStream::new();
        }
        let krate = &self.krate;
        ours!(live = #krate::__private::Site::renew(&__REATTEMPT_SITE, live);)
    }

    /// The same for an attempt that may have been cut off, which ends the call at once.
    pub(super) fn renewed_if_cut(&self) -> TokenStream {
        let renewed = self.renewed();
        if renewed.is_empty() {
            return renewed;
        }
        ours!(if ::core::result::Result::is_err(&outcome) { #renewed })
    }

    /// An attempt that is awaited as it is while nothing limits it, and otherwise `limited`, where only the running
    /// program knows whether the policy has a limit.
    pub(super) fn plain_or(
        &self,
        attempt: &TokenStream,
        limit: &TokenStream,
        limited: impl FnOnce(&TokenStream, &TokenStream) -> TokenStream,
    ) -> TokenStream {
        let krate = &self.krate;
        let is_plain = if self.asks_once {
            ours!(plain)
        } else if self.model.named.is_some() {
            ours!(#krate::__private::Live::is_idle(&live))
        } else if self.model.inherited.is_some() {
            ours!(#krate::__private::LiveCall::is_plain(&call, limit))
        } else {
            let limited = limited(attempt, limit);
            return ours!(#limited.await);
        };
        // The limit is bound first: it reads the policy, and the attempt may borrow what that lies
        // in.
        let limited = limited(&ours!(attempt), &ours!(limit));
        let first = first_outcome();
        ours! {{
            let limit = #limit;
            let attempt = #attempt;
            if #is_plain {
                ::core::result::Result::Ok(#first)
            } else {
                #limited.await
            }
        }}
    }

    /// Whether an async call keeps its error through the wait, if its type allows. Only a type that is written can be asked,
    /// and not one that the function itself hides.
    pub(super) fn keeps(&self) -> bool {
        let hides = |ty: &syn::Type| {
            let tokens = ty.to_token_stream();
            mentions_impl(tokens)
        };
        self.asynchronous && self.answer.ty().is_some_and(|ty| !hides(ty))
    }

    /// What is kept, made where the attempt ends.
    pub(super) fn kept(&self) -> TokenStream {
        let (krate, what) = (&self.krate, self.last());
        let kept = ours!(#krate::__private::keep!(#what));
        if self.remembers() {
            ours!(#krate::__private::Held::new(#kept))
        } else {
            kept
        }
    }

    /// After the wait: the end with what was kept, if retries are switched off or time is over.
    pub(super) fn if_stopped(&self) -> TokenStream {
        let (context, last) = (self.context(), self.last());
        let (end, give_up) = (self.end(), self.give_up());
        // `cut` of the attempt is out of scope after the wait.
        let is_plain = self.model.until.is_none() && self.form().is_none() && self.is_reported();
        let says = !is_plain || self.remembers();
        let cut = says.then(|| self.cut_bound());
        if self.remembers() {
            let remembered = self.remember(&ours!(kept));
            return ours! {
                match (&mut call).resumed(pause.await, #context) {
                    ::core::result::Result::Ok(kept) => #remembered,
                    ::core::result::Result::Err((#last, #end)) => {
                        #cut
                        break #give_up
                    }
                }
            };
        }
        ours! {
            let stopped = (&mut call).stopped(pause.await, #context);
            if let ::core::option::Option::Some((#last, #end)) = stopped {
                #cut
                break #give_up
            }
        }
    }

    /// What the answer of a call that gives up is made of.
    pub(super) fn last(&self) -> TokenStream {
        if self.model.until.is_some() {
            ours!(outcome)
        } else {
            ours!(error)
        }
    }

    /// Whether an attempt may have a limit of its own, which its policy knows.
    pub(super) fn may_time_out(&self) -> bool {
        self.model.is_inherited() || self.model.has(Key::Timeout)
    }
}

fn mentions_impl(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(word) => word == "impl",
        proc_macro2::TokenTree::Group(group) => mentions_impl(group.stream()),
        _ => false,
    })
}
