//! Literals: `"100ms"`, `0.2`, `"exp"`, in the words that files have too. What is no literal is an expression,
//! and judged when the compiler evaluates it.

mod limits;

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use reattempt_policy::rules::RuleId;
use reattempt_policy::written::{ParseError, Whole, Word, Written};
use reattempt_policy::{Backoff, Codes, Jitter, Nested, Priority, Telemetry};
use syn::{Expr, ExprLit, ExprUnary, Lit, LitStr, UnOp};

pub use limits::Copies;
pub use reattempt_policy::written::{Attempts, Name, Share};

/// A type that can be written as a literal.
pub trait Literal: Word {
    /// A call that stands for a literal, such as `quantile(0.95)`.
    fn from_call(_: &syn::ExprCall) -> Option<Result<Self, ParseError>> {
        None
    }

    /// The expression that builds this value, below the crate path.
    fn tokens(&self, krate: &TokenStream) -> TokenStream;
}

/// The value in quotes, where it is what `T` takes as a text.
pub fn quoted<T: Literal>(value: String) -> String {
    let is_literal = |expr: Expr| matches!(read::<T>(&expr), Some(Ok(_)));
    let is_text = matches!(T::from_text(&value), Some(Ok(_)));
    if is_text && !syn::parse_str(&value).is_ok_and(is_literal) {
        format!("{value:?}")
    } else {
        value
    }
}

/// `None`: no literal, but an expression.
pub fn read<T: Literal>(expr: &Expr) -> Option<Result<T, ParseError>> {
    let (lit, negative) = match expr {
        Expr::Lit(ExprLit { lit, .. }) => (lit, false),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => match &**expr {
            Expr::Lit(ExprLit { lit, .. }) => (lit, true),
            _ => return None,
        },
        Expr::Call(call) => return T::from_call(call),
        Expr::Group(group) => return read(&group.expr),
        Expr::Paren(paren) => return read(&paren.expr),
        _ => return None,
    };
    let is_endless = match lit {
        Lit::Float(number) => !number.base10_parse::<f64>().is_ok_and(f64::is_finite),
        // By its digits: a suffix is the business of who reads it.
        Lit::Int(number) => (number.base10_digits().parse::<f64>()).is_ok_and(f64::is_infinite),
        _ => false,
    };
    if is_endless {
        return Some(Err(ParseError::new(
            RuleId::Type,
            "this number is too large for any value; write a smaller one",
        )));
    }
    let text;
    let digits;
    let written = match lit {
        Lit::Str(lit) => {
            text = lit.value();
            Written::Text(&text)
        }
        Lit::Int(number) if negative => negated(number).map_or(Written::Other, Written::Number),
        // In the last key of an attribute the sign is part of the literal.
        Lit::Int(number) if number.base10_digits().starts_with('-') => number
            .base10_parse()
            .map_or(Written::Other, Written::Number),
        Lit::Int(number) => {
            digits = number.to_string();
            Written::Whole(Whole {
                written: &digits,
                digits: number.base10_digits(),
                suffix: number.suffix(),
            })
        }
        Lit::Float(number) => match number.base10_parse::<f64>() {
            Ok(value) => Written::Number(if negative { -value } else { value }),
            Err(_) => Written::Other,
        },
        Lit::Bool(value) => Written::Flag(value.value),
        // `'1s'`, of which the compiler has said that it is no character.
        Lit::Verbatim(quoted) if quoted.to_string().starts_with('\'') => {
            text = quoted.to_string();
            Written::Text(text.trim_matches('\''))
        }
        _ => Written::Other,
    };
    Some(T::read(written, T::EXAMPLE))
}

fn negated(number: &syn::LitInt) -> Option<f64> {
    number.base10_parse::<f64>().ok().map(|value| -value)
}

impl Literal for Attempts {
    fn tokens(&self, _: &TokenStream) -> TokenStream {
        let attempts = self.0;
        ours!(#attempts)
    }
}

impl Literal for Duration {
    fn tokens(&self, _: &TokenStream) -> TokenStream {
        let (seconds, nanos) = (self.as_secs(), self.subsec_nanos());
        ours!(::core::time::Duration::new(#seconds, #nanos))
    }
}

impl Literal for f64 {
    fn tokens(&self, _: &TokenStream) -> TokenStream {
        ours!(#self)
    }
}

/// The name of a variant as a token.
fn variant(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

impl Literal for Jitter {
    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        let variant = variant(self.variant());
        let content = if let Self::Ratio(ratio) = self {
            ours!((#ratio))
        } else {
            ours!()
        };
        ours!(#krate::Jitter::#variant #content)
    }
}

impl Literal for Backoff {
    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        let variant = variant(self.variant());
        ours!(#krate::Backoff::#variant)
    }
}

impl Literal for Nested {
    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        let variant = variant(self.variant());
        ours!(#krate::policy::Nested::#variant)
    }
}

impl Literal for Priority {
    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        let variant = variant(self.variant());
        ours!(#krate::policy::Priority::#variant)
    }
}

/// Only an expression makes one.
impl Literal for Codes {
    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        ours!(#krate::policy::Codes::NONE)
    }
}

impl Literal for Telemetry {
    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        if *self == Self::quiet() {
            ours!(#krate::Telemetry::quiet())
        } else if *self == Self::new().spans() {
            ours!(#krate::Telemetry::new().spans())
        } else if *self == Self::new().timings() {
            ours!(#krate::Telemetry::new().timings())
        } else {
            ours!(#krate::Telemetry::new())
        }
    }
}

impl Literal for bool {
    fn tokens(&self, _: &TokenStream) -> TokenStream {
        ours!(#self)
    }
}

impl Literal for Name {
    fn tokens(&self, _: &TokenStream) -> TokenStream {
        let name = LitStr::new(&self.0, Span::mixed_site());
        ours!(#name)
    }
}
