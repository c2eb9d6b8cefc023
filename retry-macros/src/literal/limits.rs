//! What `budget` and `hedge` may be written as.

use std::time::Duration;

use proc_macro2::TokenStream;
use syn::Expr;

use super::{Literal, read};

/// The share of a budget of the operation's own.
#[derive(Clone, Copy)]
pub(crate) struct Share(pub(crate) f64);

impl Literal for Share {
    const EXAMPLE: &'static str = "a share of the successful calls, or a budget; write `budget = 0.1` or `budget = &BUDGET` of a `static`";

    fn from_int(number: &syn::LitInt) -> Option<Result<Self, String>> {
        f64::from_int(number).map(|share| share.and_then(|share| Self(share).checked()))
    }

    fn from_float(value: f64) -> Option<Result<Self, String>> {
        Some(Self(value).checked())
    }

    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        let share = self.0;
        ours!(#krate::Budget::per_success(#share))
    }
}

impl Share {
    fn checked(self) -> Result<Self, String> {
        refused(retry_runtime::rules::budget_share(self.0)).map(|()| self)
    }
}

/// When further copies of a slow attempt are started.
#[derive(Clone, Copy)]
pub(crate) enum Copies {
    After(Duration),
    Quantile(f64),
}

impl Literal for Copies {
    const EXAMPLE: &'static str =
        "a duration or a quantile; write `hedge = \"50ms\"` or `hedge = quantile(0.95)`";

    fn from_str(text: &str) -> Option<Result<Self, String>> {
        if let Some(percent) = percentile(text) {
            return Some(Err(format!(
                "a share of the calls is no duration; write `hedge = quantile({})`",
                percent / 100.0
            )));
        }
        Duration::from_str(text).map(|delay| {
            let delay = delay?;
            refused(retry_runtime::rules::hedge_delay(delay)).map(|()| Self::After(delay))
        })
    }

    fn from_int(number: &syn::LitInt) -> Option<Result<Self, String>> {
        Duration::from_int(number).map(|wrong| wrong.map(Self::After))
    }

    fn from_float(value: f64) -> Option<Result<Self, String>> {
        Some(Err(format!(
            "a bare number is no delay of a hedge; write `hedge = quantile({value})` or `hedge = \"50ms\"`"
        )))
    }

    fn from_call(call: &syn::ExprCall) -> Option<Result<Self, String>> {
        match &*call.func {
            Expr::Path(path) if path.path.is_ident("quantile") => {}
            _ => return None,
        }
        let quantile = match call.args.first() {
            Some(first) if call.args.len() == 1 => read::<f64>(first),
            _ => Some(Err(
                "`quantile` takes one number; write `hedge = quantile(0.95)`".to_owned(),
            )),
        };
        // A constant is for `Hedge::quantile`.
        let quantile = quantile.unwrap_or_else(|| {
            Err("`quantile` takes a literal; write `hedge = quantile(0.95)`, or `Hedge::quantile(...)` with a constant".to_owned())
        });
        Some(quantile.and_then(|quantile| {
            refused(retry_runtime::rules::hedge_quantile(quantile))
                .map(|()| Self::Quantile(quantile))
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

fn refused(refusal: Option<impl std::fmt::Display>) -> Result<(), String> {
    refusal.map_or(Ok(()), |text| Err(text.to_string()))
}
