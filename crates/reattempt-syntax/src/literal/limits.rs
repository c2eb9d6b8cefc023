//! What `budget` and `hedge` may be written as.

use std::time::Duration;

use proc_macro2::TokenStream;
use reattempt_policy::rules::{RuleId, Violation, hedge_delay, hedge_quantile};
use reattempt_policy::written::{ParseError, Share, Whole, Word};
use syn::Expr;

use super::{Literal, read};

impl Literal for Share {
    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        match self {
            Self::Of(share) => ours!(#krate::Budget::per_success(#share)),
            // A call of the builder: there is no value.
            Self::None => TokenStream::new(),
        }
    }
}

/// When further copies of a slow attempt are started.
#[derive(Clone, Copy)]
pub enum Copies {
    /// After this time.
    After(Duration),
    /// After the time that this part of the calls stays below.
    Quantile(f64),
}

impl Word for Copies {
    const EXAMPLE: &'static str =
        "a duration or a quantile; write `hedge = \"50ms\"` or `hedge = quantile(0.95)`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        if let Some(percent) = percentile(text) {
            let message = format!(
                "a share of the calls is not a duration; write `hedge = quantile({})`",
                percent / 100.0
            );
            return Some(Err(ParseError::new(RuleId::R12, message)));
        }
        Duration::from_text(text).map(|delay| {
            let delay = delay?;
            refused(hedge_delay(delay).as_ref()).map(|()| Self::After(delay))
        })
    }

    fn from_whole(number: Whole<'_>) -> Option<Result<Self, ParseError>> {
        Duration::from_whole(number).map(|wrong| wrong.map(Self::After))
    }

    fn from_number(value: f64) -> Option<Result<Self, ParseError>> {
        let message = format!(
            "a bare number is not a delay of a hedge; write `hedge = quantile({value})` or `hedge = \"50ms\"`"
        );
        Some(Err(ParseError::new(RuleId::R12, message)))
    }
}

impl Literal for Copies {
    fn from_call(call: &syn::ExprCall) -> Option<Result<Self, ParseError>> {
        match &*call.func {
            Expr::Path(path) if path.path.is_ident("quantile") => {}
            _ => return None,
        }
        let quantile = match call.args.first() {
            Some(first) if call.args.len() == 1 => read::<f64>(first),
            _ => Some(Err(ParseError::new(
                RuleId::R12,
                "`quantile` takes one number; write `hedge = quantile(0.95)`",
            ))),
        };
        // A constant is for `Hedge::quantile`.
        let quantile = quantile.unwrap_or_else(|| {
            Err(ParseError::new(
                RuleId::R12,
                "`quantile` takes a literal; write `hedge = quantile(0.95)`, or `Hedge::quantile(...)` with a constant",
            ))
        });
        Some(quantile.and_then(|quantile| {
            refused(hedge_quantile(quantile).as_ref()).map(|()| Self::Quantile(quantile))
        }))
    }

    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        match self {
            Self::After(delay) => {
                let delay = delay.tokens(krate);
                ours!(#krate::Hedge::after(#delay))
            }
            Self::Quantile(quantile) => ours!(#krate::Hedge::quantile(#quantile)),
        }
    }
}

/// 95 of `p95` and `95%`.
fn percentile(text: &str) -> Option<f64> {
    let number = text.strip_prefix('p').or_else(|| text.strip_suffix('%'))?;
    number.trim().parse().ok()
}

fn refused(violation: Option<&Violation>) -> Result<(), ParseError> {
    violation.map_or(Ok(()), |violation| {
        Err(ParseError::new(violation.rule(), violation.message()))
    })
}
