//! `strategy`: the step of a call that a strategy decides.
//!
//! ```text
//! let mut state = None;                             // before the loop, of no use until something fails
//! let step = decided(&mut call, ..., &mut state, &(STRATEGY));
//! let step = decided_by(&mut call, ..., CLOSURE);   // which has no state
//! match step { ... }
//! ```

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::Expr;
use syn::spanned::Spanned as _;

use super::parts::{Parts, hook};
use retry_syntax::model::at;

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

    /// The step that is taken apart, as a statement before it, if there is one, and an expression. A statement,
    /// so that nothing of the user's expression lives through the wait.
    pub(super) fn failed(&self) -> (TokenStream, TokenStream) {
        let (krate, timer) = (&self.krate, &self.timer);
        let (operation, until, limits) = (self.operation(), self.until(), self.limits());
        let Some(strategy) = &self.model.strategy else {
            let failed = self.step("failed");
            let failed = ours!(#krate::__private::#failed(&mut call, #operation, #until, #timer, cause, verdict, #limits));
            return (TokenStream::new(), failed);
        };
        let span = at(strategy.span());
        let (how, asked) = if is_closure(strategy) {
            let hook = hook(strategy);
            ("decided_by", quote_spanned!(span=> #hook))
        } else {
            ("decided", quote_spanned!(span=> &mut state, &(#strategy)))
        };
        // The name carries the bound on the strategy.
        let (krate, how) = (self.model.krate_at(strategy.span()), Ident::new(how, span));
        let step = quote_spanned! {span=>
            #krate::__private::#how(&mut call, #operation, #until, #timer, cause, verdict, #limits, #asked)
        };
        (ours!(let step = #step;), ours!(step))
    }
}

/// Whether it is a closure, whose parameter the step names.
fn is_closure(strategy: &Expr) -> bool {
    match strategy {
        Expr::Closure(_) => true,
        Expr::Group(group) => is_closure(&group.expr),
        Expr::Paren(paren) => is_closure(&paren.expr),
        // One whose `self` has another name.
        Expr::Verbatim(tokens) => syn::parse2::<syn::ExprClosure>(tokens.clone()).is_ok(),
        _ => false,
    }
}
