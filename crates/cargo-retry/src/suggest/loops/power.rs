//! Delays that are a power of the number of the attempt: `100 * 2u64.pow(attempt)`, `1 << attempt`.

use syn::spanned::Spanned as _;
use syn::{BinOp, Expr, ExprCall};

use super::counters::unparenthesized;
use super::facts::Facts;
use crate::code::written;
use crate::suggest::keys::{integer, literal_duration, operand};

/// What is known of the names in a delay.
pub(super) struct Known<'k> {
    pub(super) facts: &'k Facts,
    /// What a variable is set to.
    pub(super) named: &'k dyn Fn(&str) -> Option<Expr>,
    /// What a counter begins with.
    pub(super) start: &'k dyn Fn(&str) -> Option<u64>,
}

/// A delay that grows by a factor.
pub(super) struct Growing {
    pub(super) base: String,
    pub(super) factor: u64,
    pub(super) cap: Option<String>,
}

/// The first of the numbers, what each is multiplied with for the next, and the largest.
struct Numbers {
    first: u64,
    factor: u64,
    most: Option<u64>,
}

/// Names lead to names.
const DEEPEST: u32 = 4;

impl Known<'_> {
    pub(super) fn growing(&self, delay: &Expr) -> Option<Growing> {
        match unparenthesized(delay) {
            Expr::Call(call) => self.by_unit(call),
            Expr::Binary(it) if matches!(it.op, BinOp::Mul(_)) => self.times(&it.left, &it.right),
            Expr::MethodCall(it) if it.method == "saturating_mul" => {
                self.times(&it.receiver, it.args.first()?)
            }
            _ => None,
        }
    }

    /// `Duration::from_secs(numbers)`
    fn by_unit(&self, call: &ExprCall) -> Option<Growing> {
        let Expr::Path(function) = &*call.func else {
            return None;
        };
        let unit = match function.path.segments.last()?.ident.to_string().as_str() {
            "from_secs" | "from_secs_f64" => "s",
            "from_millis" => "ms",
            "from_micros" => "us",
            _ => return None,
        };
        let numbers = self.numbers(call.args.first()?, 0)?;
        let text = |number: u64| format!("\"{number}{unit}\"");
        Some(Growing {
            base: text(numbers.first),
            factor: numbers.factor,
            cap: numbers.most.map(text),
        })
    }

    /// A duration, and with what it is multiplied.
    fn times(&self, delay: &Expr, by: &Expr) -> Option<Growing> {
        let numbers = self.numbers(by, 0)?;
        let text = |number: u64| match number {
            1 => literal_duration(delay).unwrap_or_else(|| written(delay)),
            number => format!("{} * {number}", operand(delay)),
        };
        Some(Growing {
            base: text(numbers.first),
            factor: numbers.factor,
            cap: numbers.most.map(text),
        })
    }

    fn numbers(&self, expr: &Expr, depth: u32) -> Option<Numbers> {
        if depth > DEEPEST {
            return None;
        }
        match unparenthesized(expr) {
            Expr::Cast(it) => self.numbers(&it.expr, depth),
            Expr::Path(it) => {
                let value = (self.named)(&it.path.get_ident()?.to_string())?;
                self.numbers(&value, depth.saturating_add(1))
            }
            Expr::Call(it) if written(&it.func).ends_with("::pow") => {
                self.power(1, it.args.first()?, it.args.get(1)?)
            }
            Expr::MethodCall(it) => match it.method.to_string().as_str() {
                "pow" | "saturating_pow" | "powi" => self.power(1, &it.receiver, it.args.first()?),
                "saturating_mul" => self.product(&it.receiver, it.args.first()?, depth),
                _ => None,
            },
            Expr::Binary(it) => match it.op {
                BinOp::Mul(_) => self.product(&it.left, &it.right, depth),
                BinOp::Shl(_) => {
                    let two = syn::parse_quote!(2);
                    self.power(integer(&it.left)?, &two, &it.right)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn product(&self, left: &Expr, right: &Expr, depth: u32) -> Option<Numbers> {
        let (number, other) = match (integer(left), integer(right)) {
            (Some(number), _) => (number, right),
            (_, Some(number)) => (number, left),
            _ => return None,
        };
        let numbers = self.numbers(other, depth)?;
        let most = numbers.most.map(|it| it.checked_mul(number));
        Some(Numbers {
            first: numbers.first.checked_mul(number)?,
            most: most.map_or(Some(None), |it| it.map(Some))?,
            ..numbers
        })
    }

    fn power(&self, unit: u64, base: &Expr, exponent: &Expr) -> Option<Numbers> {
        let factor = integer(base).or_else(|| match base {
            Expr::Lit(it) => written(it).trim_end_matches("f64").parse().ok(),
            _ => None,
        });
        let factor = factor.filter(|it| *it > 1)?;
        let (first, most) = self.exponent(exponent)?;
        let number = |exponent: u64| {
            let power = factor.checked_pow(u32::try_from(exponent).ok()?)?;
            power.checked_mul(unit)
        };
        Some(Numbers {
            first: number(first)?,
            factor,
            most: match most {
                Some(most) => Some(number(most)?),
                None => None,
            },
        })
    }

    /// The first exponent, and the largest.
    fn exponent(&self, expr: &Expr) -> Option<(u64, Option<u64>)> {
        match unparenthesized(expr) {
            Expr::Cast(it) => self.exponent(&it.expr),
            Expr::MethodCall(it) if it.method == "min" => {
                let (first, None) = self.exponent(&it.receiver)? else {
                    return None;
                };
                Some((first, Some(integer(it.args.first()?)?)))
            }
            Expr::MethodCall(it) if it.method == "saturating_sub" => {
                let (first, most) = self.exponent(&it.receiver)?;
                Some((first.checked_sub(integer(it.args.first()?)?)?, most))
            }
            Expr::Binary(it) => {
                let ((first, most), number) = (self.exponent(&it.left)?, integer(&it.right)?);
                match it.op {
                    BinOp::Add(_) => Some((first.checked_add(number)?, most)),
                    BinOp::Sub(_) => Some((first.checked_sub(number)?, most)),
                    _ => None,
                }
            }
            counter => {
                let name = written(counter);
                let place = counter.span().byte_range().start;
                let steps = &self.facts.counted_at;
                let is_counted = steps.iter().any(|(it, at)| *it == name && *at < place);
                let is_up = self.facts.counters.up.contains(&name);
                let start = (self.start)(&name).filter(|_| is_up)?;
                Some((start.checked_add(u64::from(is_counted))?, None))
            }
        }
    }
}
