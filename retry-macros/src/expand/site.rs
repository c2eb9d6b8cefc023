//! `policy = "storage"`, and the kill switch.
//!
//! ```text
//! static __REATTEMPT_SITE: Site = Site::new(NAME, "storage", INLINE_POLICY);
//! let mut operation = Site::call(&__REATTEMPT_SITE);      // nothing, unless the policy counts from the start
//! loop {
//!     ...                                                 // an attempt that fails
//!     operation = Site::renew(&__REATTEMPT_SITE, operation);   // one snapshot for all of the decision
//!     ...
//! }
//! ```
//!
//! With the feature `config` each wait is followed by a look at the switch; the error that the call then
//! ends with is kept through an async wait where its type allows.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote_spanned};
use retry_runtime::rules::Key;

use super::outcome::Cutting;
use super::parts::{Parts, method};
use crate::config;
use retry_syntax::model::at;

impl Parts<'_> {
    /// The statements that ask for a policy by name.
    pub(super) fn site(&self) -> TokenStream {
        let Some(named) = &self.model.named else {
            return TokenStream::new();
        };
        let (krate, name, policy) = (&self.krate, &self.model.name, self.policy());
        // What a gate and a hedge ask, they ask before anything fails.
        let call = if self.model.is_gated() || self.model.hedge.is_some() {
            ours!(held)
        } else {
            ours!(call)
        };
        let named = named.value();
        ours! {
            static __REATTEMPT_SITE: #krate::__private::Site = #krate::__private::Site::new(#name, #named, #policy);
            let mut operation = #krate::__private::Site::#call(&__REATTEMPT_SITE);
        }
    }

    /// The function of the runtime for a step, or the one for named policies.
    pub(super) fn step(&self, word: &str) -> proc_macro2::Ident {
        if self.model.named.is_some() {
            method(&format!("{word}_named"))
        } else {
            method(word)
        }
    }

    /// After a failure, before anything is decided.
    pub(super) fn renewed(&self) -> TokenStream {
        if self.model.named.is_none() {
            return TokenStream::new();
        }
        let krate = &self.krate;
        ours!(operation = #krate::__private::Site::renew(&__REATTEMPT_SITE, operation);)
    }

    /// The same for an attempt that may have been cut off, which is told at once.
    pub(super) fn renewed_if_cut(&self) -> TokenStream {
        let renewed = self.renewed();
        if renewed.is_empty() {
            return renewed;
        }
        ours!(if ::core::result::Result::is_err(&outcome) { #renewed })
    }

    /// The attempt as an expression that moves it once, where it is awaited in one of two places.
    pub(super) fn ready(&self, attempt: &TokenStream) -> TokenStream {
        if self.model.named.is_some() {
            return ours!(attempt);
        }
        attempt.clone()
    }

    /// An attempt that is awaited as it is while nothing counts from the start, and otherwise `limited`.
    pub(super) fn idle(&self, attempt: &TokenStream, limited: &TokenStream) -> TokenStream {
        if self.model.named.is_none() {
            return ours!(#limited.await);
        }
        let krate = &self.krate;
        ours! {{
            let attempt = #attempt;
            if #krate::__private::Live::is_idle(&operation) {
                ::core::result::Result::Ok(attempt.await)
            } else {
                #limited.await
            }
        }}
    }

    /// After a wait through which the error was there: the end, if retries are switched off.
    pub(super) fn if_stopped(&self) -> TokenStream {
        if !config::is_on() {
            return TokenStream::new();
        }
        let (krate, operation) = (&self.krate, self.operation());
        let (end, give_up) = (self.end(), self.give_up());
        ours! {
            if let ::core::option::Option::Some(#end) = #krate::__private::stopped(&call, #operation) {
                break #give_up
            }
        }
    }

    /// Whether an async call keeps its error through the wait, if its type allows. Only a type that is written can be asked,
    /// and not one that the function itself hides.
    pub(super) fn keeps(&self) -> bool {
        let hides = |ty: &syn::Type| {
            let tokens = ty.to_token_stream();
            mentions_impl(tokens)
        };
        config::is_on() && self.asynchronous && self.answer.ty().is_some_and(|ty| !hides(ty))
    }

    /// What is kept, made where the attempt ends.
    pub(super) fn kept(&self) -> TokenStream {
        let (krate, what) = (&self.krate, self.last());
        ours! {{
            use #krate::__private::{Drops as _, Keeps as _};
            #krate::__private::Keep(::core::option::Option::Some(#what)).reattempt_keep()
        }}
    }

    /// After the wait: the end with what was kept, if retries are switched off.
    pub(super) fn if_stopped_keeping(&self) -> TokenStream {
        let (krate, operation, last) = (&self.krate, self.operation(), self.last());
        let (end, give_up) = (self.end(), self.give_up());
        // The one of the attempt is gone.
        let says = self.model.until.is_some() || !self.is_told();
        let cut = if self.cutting() == Cutting::Always && says {
            let span = self.model.error_span;
            let located = self.model.krate_at(span);
            quote_spanned!(at(span)=> let cut = #located::__private::cut();)
        } else {
            TokenStream::new()
        };
        ours! {
            if let ::core::option::Option::Some((#last, #end)) = #krate::__private::Stopped::end(kept, &call, #operation) {
                #cut
                break #give_up
            }
        }
    }

    /// What the answer of a call that gives up is made of.
    fn last(&self) -> TokenStream {
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
