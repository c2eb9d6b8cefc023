//! The budget of a process: what `budget = 0.1` says, or `Budget::per_success(0.1).floor(0.0)`.

use std::fmt;
use std::time::Duration;

use proc_macro2::{TokenStream, TokenTree};
use retry_runtime::Budget;
use retry_runtime::rules::budget_share;
use syn::{Expr, ExprCall, ExprMethodCall, Lit};

/// A budget of deposits, by its settings: each process has one of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Allowance {
    /// Retries for each success, or for each call.
    pub(crate) share: f64,
    /// Retries a second that nothing has earned.
    pub(crate) floor: f64,
    is_per_request: bool,
    initial: Option<u32>,
    ttl: Option<Duration>,
}

impl Allowance {
    /// `budget = 0.1`.
    pub(crate) const fn new(share: f64) -> Self {
        Self {
            share,
            floor: 1.0,
            is_per_request: false,
            initial: None,
            ttl: None,
        }
    }

    /// The same where nothing is there that was not earned.
    pub(crate) const fn without_floor(self) -> Self {
        Self { floor: 0.0, ..self }
    }

    pub(crate) fn budget(&self) -> Budget {
        let budget = if self.is_per_request {
            Budget::per_request(self.share)
        } else {
            Budget::per_success(self.share)
        };
        let budget = budget.floor(self.floor);
        let budget = self.initial.into_iter().fold(budget, Budget::initial);
        self.ttl.into_iter().fold(budget, Budget::ttl)
    }

    /// What a share is of.
    pub(crate) const fn earned_by(&self) -> &'static str {
        if self.is_per_request {
            "call"
        } else {
            "success"
        }
    }

    /// What stands behind the key `budget` in the keys of an attribute, if that is such a budget.
    pub(crate) fn written(text: &str) -> Option<Self> {
        read(&syn::parse2(behind_budget(text.parse().ok()?)?).ok()?)
    }
}

/// As code has it.
impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constructor = if self.is_per_request {
            "per_request"
        } else {
            "per_success"
        };
        let (share, floor) = (self.share, self.floor);
        write!(f, "Budget::{constructor}({share:?}).floor({floor:?})")?;
        if let Some(initial) = self.initial {
            write!(f, ".initial({initial})")?;
        }
        if let Some(ttl) = self.ttl {
            write!(f, ".ttl(Duration::from_secs({}))", ttl.as_secs())?;
        }
        Ok(())
    }
}

/// The expression; an attribute around the keys is the last tree in which they may stand.
fn behind_budget(mut tokens: TokenStream) -> Option<TokenStream> {
    loop {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let is = |tree: &TokenTree, written: &str| tree.to_string() == written;
        let key = trees.windows(2).position(|pair| match pair {
            [key, equals] => is(key, "budget") && is(equals, "="),
            _ => false,
        });
        if let Some(key) = key {
            let value = trees.into_iter().skip(key.saturating_add(2));
            return Some(value.take_while(|tree| !is(tree, ",")).collect());
        }
        let Some(TokenTree::Group(group)) = trees.into_iter().next_back() else {
            return None;
        };
        tokens = group.stream();
    }
}

fn read(expression: &Expr) -> Option<Allowance> {
    match expression {
        Expr::Reference(it) => read(&it.expr),
        Expr::Paren(it) => read(&it.expr),
        Expr::Call(call) => allowance_of(call),
        Expr::MethodCall(call) => changed(call),
        _ => None,
    }
}

fn allowance_of(call: &ExprCall) -> Option<Allowance> {
    let [names @ .., constructor] = &*path(&call.func)? else {
        return None;
    };
    if names.last()? != "Budget" {
        return None;
    }
    let share = number(only(&call.args)?)?;
    let allowance = budget_share(share)
        .is_none()
        .then(|| Allowance::new(share))?;
    match constructor.as_str() {
        "per_success" => Some(allowance),
        "per_request" => Some(Allowance {
            is_per_request: true,
            ..allowance
        }),
        _ => None,
    }
}

/// A value that the budget would refuse is not read.
fn changed(call: &ExprMethodCall) -> Option<Allowance> {
    let allowance = read(&call.receiver)?;
    let value = only(&call.args)?;
    if call.method == "floor" {
        let floor = number(value).filter(|it| it.is_finite() && *it >= 0.0)?;
        Some(Allowance { floor, ..allowance })
    } else if call.method == "initial" {
        let initial = Some(whole(value)?);
        Some(Allowance {
            initial,
            ..allowance
        })
    } else if call.method == "ttl" {
        let ttl = Some(seconds(value)?);
        Some(Allowance { ttl, ..allowance })
    } else {
        None
    }
}

/// `Duration::from_secs(5)`, within what a deposit may last.
fn seconds(expression: &Expr) -> Option<Duration> {
    let Expr::Call(call) = expression else {
        return None;
    };
    let is_seconds = path(&call.func)?.ends_with(&["Duration".into(), "from_secs".into()]);
    let seconds = whole(only(&call.args)?).filter(|it| is_seconds && (1..=60).contains(it))?;
    Some(Duration::from_secs(seconds.into()))
}

fn path(expression: &Expr) -> Option<Vec<String>> {
    let Expr::Path(it) = expression else {
        return None;
    };
    let segments = it.path.segments.iter();
    Some(segments.map(|it| it.ident.to_string()).collect())
}

fn only<T, P>(arguments: &syn::punctuated::Punctuated<T, P>) -> Option<&T> {
    arguments.first().filter(|_| arguments.len() == 1)
}

fn number(expression: &Expr) -> Option<f64> {
    match literal(expression)? {
        Lit::Float(it) => it.base10_parse().ok(),
        Lit::Int(it) => it.base10_parse().ok(),
        _ => None,
    }
}

fn whole(expression: &Expr) -> Option<u32> {
    match literal(expression)? {
        Lit::Int(it) => it.base10_parse().ok(),
        _ => None,
    }
}

const fn literal(expression: &Expr) -> Option<&Lit> {
    match expression {
        Expr::Lit(it) => Some(&it.lit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_read_as_they_are_written() {
        for chain in [
            "Budget::per_success(0.1).floor(0.0)",
            "Budget::per_request(0.25).floor(2.0).initial(3)",
            "Budget::per_success(1.0).floor(0.5).ttl(Duration::from_secs(5))",
        ] {
            for text in [
                format!("max = 4, budget = {chain}"),
                format!("#[reattempt::retry(budget = &{chain}, max = 4)]"),
            ] {
                let read = Allowance::written(&text).map(|it| it.to_string());
                assert_eq!(read.as_deref(), Some(chain));
            }
        }
        let short = Allowance::written("budget = reattempt::Budget::per_success(0.1)");
        assert_eq!(short, Some(Allowance::new(0.1)));
    }

    #[test]
    fn what_is_not_known_or_not_allowed_is_not_read() {
        for value in [
            "&SHARED",
            "Budget::tokens(500)",
            "Budget::per_success(SHARE)",
            "Budget::per_success(2.0)",
            "Budget::per_success(0.1).floor(-1.0)",
            "Budget::per_success(0.1).floor(NONE)",
            "Budget::per_success(0.1).initial(0.5)",
            "Budget::per_success(0.1).ttl(Duration::from_secs(90))",
            "Budget::per_success(0.1).ttl(TTL)",
            "Other::per_success(0.1)",
        ] {
            assert_eq!(Allowance::written(&format!("budget = {value}")), None);
        }
        for text in ["", "max = 4", "(", "budget", "budget ="] {
            assert_eq!(Allowance::written(text), None, "{text}");
        }
    }
}
