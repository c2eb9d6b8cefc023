//! What a call remembers of its attempts. `history`: `let mut history = ...;` before the loop, the error of each attempt
//! that another one follows, and the answer that holds it all. Without it, an answer with a reason whose attempts may be
//! cut off has the last error: `let mut last = ...;`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use super::outcome::Cutting;
use super::parts::Parts;
use reattempt_syntax::model::at;

impl Parts<'_> {
    /// Where it stands, unless nothing reads it: a `fallback` may look at no error.
    fn history_span(&self) -> Option<Span> {
        self.model.history.filter(|_| !self.answers_anything())
    }

    /// `let mut history = ...;`
    pub(super) fn history(&self) -> Option<TokenStream> {
        let (krate, timer) = (&self.krate, &self.timer);
        if self.remembers() {
            // Its type follows from the answer: where that has no place for an error, nothing is
            // kept.
            return Some(ours!(let mut last = ::core::default::Default::default();));
        }
        self.history_span()
            .map(|_| ours!(let mut history = #krate::__private::History::start(#timer);))
    }

    /// Whether the last error outlives the attempts after it, which may have none. Whether there is a place for it, the
    /// type of the answer says where its name does not.
    pub(super) fn remembers(&self) -> bool {
        let may_be_lost = matches!(self.cutting(), Cutting::Always | Cutting::ByPolicy);
        let has_reason = self.is_reported() || self.form().is_some();
        // Kept through waits and attempts, so its type has to be written, as for a delay.
        let is_kept = self.keeps() && !self.answers_anything();
        may_be_lost && has_reason && is_kept && self.history_span().is_none()
    }

    /// Takes what is `kept` of an attempt that another one follows.
    pub(super) fn remember(&self, kept: &TokenStream) -> TokenStream {
        let krate = &self.krate;
        let what = if self.model.until.is_some() {
            ours!(#krate::__private::OfOutcome)
        } else {
            ours!(#krate::__private::OfError)
        };
        let remembered = if let Some(form) = self.form() {
            ours!((#form).remember(#kept, last, #what))
        } else {
            ours!(#krate::__private::remember(#kept, last, #what))
        };
        ours!(last = #remembered)
    }

    /// The answer of a call that ends with an attempt without an outcome; `answer` is that of an answer without a reason.
    pub(super) fn lost_with_earlier(&self, end: &TokenStream, answer: &TokenStream) -> TokenStream {
        let krate = &self.krate;
        let form = self
            .form()
            .unwrap_or_else(|| ours!(#krate::__private::with_reason()));
        ours!((#form).lost(lost, #end, last, |lost, end| #answer))
    }

    /// The statement that takes the error of an attempt, after everything else has looked at it.
    pub(super) fn remembered(&self) -> Option<TokenStream> {
        if self.remembers() {
            let (krate, last) = (&self.krate, self.last());
            let remember = self.remember(&ours!(#krate::__private::keep!(#last)));
            return Some(ours!(#remember;));
        }
        let is_limited = self.cutting() != Cutting::Never;
        let error = match (self.model.until.is_some(), is_limited) {
            (false, false) => ours!(::core::option::Option::Some(error)),
            (false, true) => ours!(::core::result::Result::ok(error)),
            (true, false) => ours!(::core::result::Result::err(outcome)),
            (true, true) => {
                ours!(::core::option::Option::and_then(
                    ::core::result::Result::ok(outcome),
                    ::core::result::Result::err
                ))
            }
        };
        self.history_span()
            .map(|_| ours!((&mut history).push(#error);))
    }

    /// `looped`; its answer holds the history if the call gave up.
    pub(super) fn with_history(&self, looped: TokenStream) -> TokenStream {
        let Some(span) = self.history_span() else {
            return looped;
        };
        let (timer, end) = (&self.timer, Ident::new("end", at(span)));
        let krate = self.model.krate_at(span);
        let answer =
            quote_spanned!(at(span)=> #krate::__private::with_history(#end, history, #timer));
        ours!({ let #end = #looped; #answer })
    }
}
