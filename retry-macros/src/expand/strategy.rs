//! `strategy`: the step of a call that a strategy decides.
//!
//! ```text
//! let mut state = None;                             // before the loop, of no use until something fails
//! let step = call.failed_by_strategy(..., &mut state, &(STRATEGY));
//! let step = call.failed_with(..., CLOSURE);        // which has no state
//! match step { ... }
//! ```

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::Expr;
use syn::spanned::Spanned as _;

use super::parts::{Parts, hook};
use reattempt_syntax::model::at;

impl Parts<'_> {
    /// What a strategy remembers in one call.
    pub(super) fn strategy_state(&self) -> TokenStream {
        match &self.model.strategy {
            Some(strategy) if !is_closure(strategy) => {
                ours!(let mut state = ::core::option::Option::None;)
            }
            _ => TokenStream::new(),
        }
    }

    /// The step that is taken apart: statements in front of it, and an expression. Nothing of the user's expressions
    /// lives through the wait, so what holds one is a statement.
    pub(super) fn failed(&self) -> (TokenStream, TokenStream) {
        let (context, gates) = (self.context(), self.gates());
        let failure = self.failure();
        let arguments = ours!(#context, #gates, failure, verdict);
        let Some(strategy) = &self.model.strategy else {
            let failed = ours!((&mut call).failed(#arguments));
            // Otherwise the context borrows the policy or the timer, and a statement of its own
            // ends that before the wait.
            if self.has_constant_context() {
                return (ours!(let failure = #failure;), failed);
            }
            return (
                ours!(let failure = #failure; let step = #failed;),
                ours!(step),
            );
        };
        let span = at(strategy.span());
        let (how, asked) = if is_closure(strategy) {
            let hook = hook(strategy);
            // Passed as it stands: a closure behind a reference or a variable would not know its
            // parameter.
            ("failed_with", quote_spanned!(span=> #hook))
        } else {
            (
                "failed_by_strategy",
                quote_spanned!(span=> &mut state, &(#strategy)),
            )
        };
        // The name carries the bound on the strategy.
        let how = Ident::new(how, span);
        let step = quote_spanned!(span=> (&mut call).#how(#arguments, #asked));
        (
            ours!(let failure = #failure; let step = #step;),
            ours!(step),
        )
    }
}

/// Whether it is a closure, whose parameter the step names.
fn is_closure(strategy: &Expr) -> bool {
    match strategy {
        Expr::Closure(_) => true,
        Expr::Group(group) => is_closure(&group.expr),
        Expr::Paren(paren) => is_closure(&paren.expr),
        // A closure with a renamed `self` is kept as tokens.
        Expr::Verbatim(tokens) => syn::parse2::<syn::ExprClosure>(tokens.clone()).is_ok(),
        _ => false,
    }
}
