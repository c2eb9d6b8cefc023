//! Literals: `"100ms"`, `0.2`, `"exp"`. What is no literal is an expression, and
//! judged when the compiler evaluates it.

mod limits;

use std::time::Duration;

use proc_macro2::TokenStream;
use retry_runtime::{Jitter, Nested, Shape, duration};
use syn::{Expr, ExprLit, ExprUnary, Lit, LitStr, UnOp};

pub(crate) use limits::{Copies, Share};

use crate::keys;

/// A type that can be written as a literal.
pub(crate) trait Literal: Sized {
    /// What a value of this type looks like, for messages.
    const EXAMPLE: &'static str;

    fn from_str(_: &str) -> Option<Result<Self, String>> {
        None
    }

    fn from_int(_: &syn::LitInt) -> Option<Result<Self, String>> {
        None
    }

    fn from_float(_: f64) -> Option<Result<Self, String>> {
        None
    }

    fn from_bool(_: bool) -> Option<Result<Self, String>> {
        None
    }

    /// A call that stands for a literal, such as `quantile(0.95)`.
    fn from_call(_: &syn::ExprCall) -> Option<Result<Self, String>> {
        None
    }

    /// The expression that builds this value, below the crate path.
    fn tokens(&self, krate: &TokenStream) -> TokenStream;
}

/// `None`: no literal, but an expression.
pub(crate) fn read<T: Literal>(expr: &Expr) -> Option<Result<T, String>> {
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
    if let Lit::Float(number) = lit
        && !number.base10_parse::<f64>().is_ok_and(f64::is_finite)
    {
        return Some(Err(
            "this number is too large for any value; write a smaller one".to_owned(),
        ));
    }
    let read = match lit {
        Lit::Str(text) => T::from_str(&text.value()),
        Lit::Int(number) if negative => negated(number).and_then(T::from_float),
        Lit::Int(number) => T::from_int(number),
        Lit::Float(number) => number
            .base10_parse::<f64>()
            .ok()
            .and_then(|value| T::from_float(if negative { -value } else { value })),
        Lit::Bool(value) => T::from_bool(value.value),
        _ => None,
    };
    Some(read.unwrap_or_else(|| Err(format!("expected {}", T::EXAMPLE))))
}

fn negated(number: &syn::LitInt) -> Option<f64> {
    number.base10_parse::<f64>().ok().map(|value| -value)
}

/// The number of attempts; `u32::MAX` is "unlimited".
#[derive(Clone, Copy)]
pub(crate) struct Attempts(pub(crate) u32);

impl Literal for Attempts {
    const EXAMPLE: &'static str = "a number of attempts; write `max = 3` or `max = \"unlimited\"`";

    fn from_str(text: &str) -> Option<Result<Self, String>> {
        Some(match text {
            "unlimited" => Ok(Self(u32::MAX)),
            _ => Err(format!(
                "`max` is a number or `\"unlimited\"`, not `\"{text}\"`; write {}",
                text.parse::<u32>().map_or_else(
                    |_| "`max = \"unlimited\"`".to_owned(),
                    |n| format!("`max = {n}`")
                )
            )),
        })
    }

    fn from_int(number: &syn::LitInt) -> Option<Result<Self, String>> {
        Some(number.base10_parse().map(Self).map_err(|_| {
            format!(
                "`max` is at most {}, and this is {number}; write a smaller number, or `max = \"unlimited\"` with a `deadline`",
                u32::MAX
            )
        }))
    }

    fn from_float(value: f64) -> Option<Result<Self, String>> {
        // `-1` was written without a fraction, `3.0` with one.
        let written = if value < 0.0 {
            value.to_string()
        } else {
            format!("{value:?}")
        };
        Some(Err(format!(
            "`max` is a whole number of attempts from 1 on, and this is {written}; write `max = 3`"
        )))
    }

    fn tokens(&self, _: &TokenStream) -> TokenStream {
        let attempts = self.0;
        ours!(#attempts)
    }
}

impl Literal for Duration {
    const EXAMPLE: &'static str = "a duration; write `\"250ms\"`";

    fn from_str(text: &str) -> Option<Result<Self, String>> {
        Some(duration::parse(text).map_err(|fault| fault.to_string()))
    }

    fn from_int(number: &syn::LitInt) -> Option<Result<Self, String>> {
        // `5s` without quotes is a number with a suffix.
        Some(Err(match number.suffix() {
            "" => bare(number.base10_digits()),
            _ => format!("a duration is a text; write `\"{number}\"`"),
        }))
    }

    fn from_float(value: f64) -> Option<Result<Self, String>> {
        Some(Err(if value < 0.0 {
            "a duration is not negative and has a unit; write `\"250ms\"`".to_owned()
        } else {
            bare(value)
        }))
    }

    fn tokens(&self, _: &TokenStream) -> TokenStream {
        let (seconds, nanos) = (self.as_secs(), self.subsec_nanos());
        ours!(::core::time::Duration::new(#seconds, #nanos))
    }
}

fn bare(number: impl std::fmt::Display) -> String {
    format!("a bare number is no duration; write `\"{number}ms\"` or `\"{number}s\"`")
}

impl Literal for f64 {
    const EXAMPLE: &'static str = "a number; write `2.0`";

    fn from_int(number: &syn::LitInt) -> Option<Result<Self, String>> {
        number.base10_parse().ok().map(Ok)
    }

    fn from_float(value: f64) -> Option<Result<Self, String>> {
        Some(Ok(value))
    }

    fn tokens(&self, _: &TokenStream) -> TokenStream {
        ours!(#self)
    }
}

const JITTERS: &[&str] = &["none", "full", "equal"];

impl Literal for Jitter {
    const EXAMPLE: &'static str = "a share or a kind; write `jitter = 0.2` or `jitter = \"full\"`";

    fn from_str(text: &str) -> Option<Result<Self, String>> {
        Some(match text {
            "none" => Ok(Self::None),
            "full" => Ok(Self::Full),
            "equal" => Ok(Self::Equal),
            _ => Err(unknown_word(
                "jitter",
                text,
                JITTERS,
                ", or a share such as `0.2`",
            )),
        })
    }

    fn from_int(number: &syn::LitInt) -> Option<Result<Self, String>> {
        f64::from_int(number).map(|ratio| ratio.map(Self::Ratio))
    }

    fn from_float(value: f64) -> Option<Result<Self, String>> {
        Some(Ok(Self::Ratio(value)))
    }

    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        match self {
            Self::None => ours!(#krate::Jitter::None),
            Self::Equal => ours!(#krate::Jitter::Equal),
            Self::Ratio(ratio) => ours!(#krate::Jitter::Ratio(#ratio)),
            _ => ours!(#krate::Jitter::Full),
        }
    }
}

const SHAPES: &[&str] = &[
    "none",
    "fixed",
    "linear",
    "exp",
    "fibonacci",
    "decorrelated",
];

/// What others call our shapes.
const FOREIGN_SHAPES: &[(&str, &str)] = &[
    ("exponential", "exp"),
    ("constant", "fixed"),
    ("const", "fixed"),
    ("incremental", "linear"),
    ("immediate", "none"),
    ("fib", "fibonacci"),
];

impl Literal for Shape {
    const EXAMPLE: &'static str = "a kind of backoff; write `backoff = \"exp\"`";

    fn from_str(text: &str) -> Option<Result<Self, String>> {
        Some(match text {
            "none" => Ok(Self::None),
            "fixed" => Ok(Self::Fixed),
            "linear" => Ok(Self::Linear),
            "exp" => Ok(Self::Exp),
            "fibonacci" => Ok(Self::Fibonacci),
            "decorrelated" => Ok(Self::Decorrelated),
            _ => Err(
                match FOREIGN_SHAPES.iter().find(|(theirs, _)| *theirs == text) {
                    Some((_, ours)) => {
                        format!("unknown backoff `\"{text}\"`; it is called `\"{ours}\"` here")
                    }
                    None => unknown_word(
                        "backoff",
                        text,
                        SHAPES,
                        ", or an expression that implements `Backoff`",
                    ),
                },
            ),
        })
    }

    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        match self {
            Self::None => ours!(#krate::Shape::None),
            Self::Fixed => ours!(#krate::Shape::Fixed),
            Self::Linear => ours!(#krate::Shape::Linear),
            Self::Fibonacci => ours!(#krate::Shape::Fibonacci),
            Self::Decorrelated => ours!(#krate::Shape::Decorrelated),
            _ => ours!(#krate::Shape::Exp),
        }
    }
}

const NESTED: &[&str] = &["collapse", "multiply"];

impl Literal for Nested {
    const EXAMPLE: &'static str = "a kind of nesting; write `nested = \"multiply\"`";

    fn from_str(text: &str) -> Option<Result<Self, String>> {
        Some(match text {
            "collapse" => Ok(Self::Collapse),
            "multiply" => Ok(Self::Multiply),
            _ => Err(unknown_word("nested", text, NESTED, "")),
        })
    }

    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        if matches!(self, Self::Multiply) {
            ours!(#krate::Nested::Multiply)
        } else {
            ours!(#krate::Nested::Collapse)
        }
    }
}

impl Literal for bool {
    const EXAMPLE: &'static str = "a flag; write `true` or `false`, or the key alone";

    fn from_bool(value: bool) -> Option<Result<Self, String>> {
        Some(Ok(value))
    }

    fn tokens(&self, _: &TokenStream) -> TokenStream {
        ours!(#self)
    }
}

/// The name of an operation.
pub(crate) struct Name(pub(crate) String);

impl Literal for Name {
    const EXAMPLE: &'static str = "a text; write `name = \"payments.charge\"`";

    fn from_str(text: &str) -> Option<Result<Self, String>> {
        Some(if text.is_empty() {
            Err(
                "`name` is not empty; write `name = \"payments.charge\"`, or leave it out"
                    .to_owned(),
            )
        } else if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            let mended: String = text.split_whitespace().collect::<Vec<_>>().join("_");
            Err(format!(
                "`name` has no spaces or control characters; write `name = \"{mended}\"`"
            ))
        } else {
            Ok(Self(text.to_owned()))
        })
    }

    fn tokens(&self, _: &TokenStream) -> TokenStream {
        let name = LitStr::new(&self.0, proc_macro2::Span::mixed_site());
        ours!(#name)
    }
}

fn unknown_word(key: &str, word: &str, words: &[&str], or: &str) -> String {
    match keys::nearest(word, words) {
        Some(near) => format!("unknown {key} `\"{word}\"`; did you mean `\"{near}\"`?"),
        None => format!(
            "unknown {key} `\"{word}\"`; the kinds are {}{or}",
            words
                .iter()
                .map(|word| format!("`\"{word}\"`"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
}
