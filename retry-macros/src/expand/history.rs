//! `history`: `let mut history = ...;` before the loop, the error of each attempt that another one follows, and the
//! answer that holds it all.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use super::outcome::Cutting;
use super::parts::Parts;
use reattempt_syntax::model::at;

impl Parts<'_> {
    /// Where it stands, unless nobody reads it: a `fallback` may look at no error.
    fn history_span(&self) -> Option<Span> {
        self.model.history.filter(|_| !self.answers_anything())
    }

    /// `let mut history = ...;`
    pub(super) fn history(&self) -> Option<TokenStream> {
        let (krate, timer) = (&self.krate, &self.timer);
        self.history_span()
            .map(|_| ours!(let mut history = #krate::__private::History::start(#timer);))
    }

    /// The statement that takes the error of an attempt, after everything else has looked at it.
    pub(super) fn remembered(&self) -> Option<TokenStream> {
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

    /// `looped`, whose answer holds the history if the call gave up.
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
