//! The keys of a suggestion, each as it is written.

use std::time::Duration;

use retry_runtime::duration::{Human, parse};
use syn::{Expr, Lit};

use crate::code::written;
use crate::policy::{Given, from_text, text_of};

/// How a delay that an error asks for differs here.
pub(super) const ASKED: &str = "a delay that an error asks for is bounded by `max_retry_after`, 1 minute unless it is written, and has up to 10 % of jitter";

/// How a policy without the key `budget` differs.
pub(super) const BUDGET: &str =
    "the default budget ends retries early where most calls fail; `budget = \"none\"` turns it off";

/// What is known of another policy, in our keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Keys {
    pub(super) max: Option<String>,
    /// What `max` is, where it is a name.
    pub(super) known_max: Option<String>,
    pub(super) backoff: Option<&'static str>,
    pub(super) base: Option<String>,
    pub(super) factor: Option<String>,
    pub(super) cap: Option<String>,
    pub(super) jitter: Option<String>,
    pub(super) deadline: Option<String>,
    /// `on(_)`, `on = ...`, `on_retry = ...`: whole.
    pub(super) hooks: Vec<String>,
    pub(super) differs: Vec<String>,
    pub(super) unknown: Vec<String>,
    /// Without what the code is a sketch.
    pub(super) missing: Vec<String>,
}

impl Keys {
    /// `retry_block!` with these keys and this body.
    pub(super) fn block(&self, body: &str, is_async: bool) -> String {
        let block = if is_async { "async {" } else { "{" };
        let keys = self.items().join(
            ",
    ",
        );
        format!("reattempt::retry_block!(\n    {keys},\n    {block}\n        {body}\n    }},\n)")
    }

    /// As they stand in an attribute.
    pub(super) fn text(&self) -> String {
        self.items().join(", ")
    }

    /// A limit that ends an attempt needs an error; here it ends none.
    fn items(&self) -> Vec<String> {
        let backoff = self.backoff.filter(|it| *it != "exp");
        let quoted = backoff.map(|it| format!("{it:?}"));
        // What the default says already.
        let factor = self.factor.as_ref().filter(|it| *it != "2.0");
        let jitter = self.jitter.as_ref().filter(|it| *it != "\"full\"");
        let pairs = [
            ("max", self.max.as_ref()),
            ("backoff", quoted.as_ref()),
            ("base", self.base.as_ref()),
            ("factor", factor.filter(|_| backoff.is_none())),
            (
                "cap",
                self.cap.as_ref().filter(|_| backoff != Some("fixed")),
            ),
            ("jitter", jitter),
            ("deadline", self.deadline.as_ref()),
        ];
        let given = pairs.into_iter().filter_map(|(key, value)| {
            let value = value?;
            Some(format!("{key} = {value}"))
        });
        let cut = self
            .deadline
            .is_some()
            .then(|| "cut_off = false".to_owned());
        given.chain(cut).chain(self.hooks.iter().cloned()).collect()
    }

    /// Whether the retries of all calls together have a limit that nobody wrote: a number of attempts has one, and a
    /// poll has none.
    pub(super) fn has_default_budget(&self) -> bool {
        let is_number = self
            .max
            .as_ref()
            .is_some_and(|it| !it.starts_with('"') && it != "1");
        let has_other = |it: &String| it.starts_with("budget = ") || it.starts_with("until = ");
        is_number && !self.hooks.iter().any(has_other)
    }

    /// Makes a policy of them that the rules accept. What would hammer here is made to grow.
    pub(super) fn accept(&mut self) {
        if self.base.as_deref().is_some_and(is_zero) {
            self.backoff = Some("none");
        }
        if self.backoff == Some("none") {
            // They have no effect there.
            (self.base, self.factor, self.cap, self.jitter) = (None, None, None, None);
            let is_number = |max: &String| max.parse::<u32>().is_ok() || max.starts_with('"');
            let max = self.known_max.as_ref().or(self.max.as_ref());
            if !max.is_none_or(is_number) {
                self.hooks.insert(0, "budget = 0.1".to_owned());
                self.differs.push("more than 3 attempts without a delay between them need a budget (rule X7), which ends retries where most calls fail".to_owned());
            }
        }
        let broken = self.broken();
        if broken.is_empty() {
            return;
        }
        let refused = |it: &String| format!("the policy as it was breaks {it}");
        self.differs.extend(broken.iter().map(refused));
        let before = self.total();
        (self.backoff, self.jitter) = (None, None);
        self.differs.push(
            "the delays grow here, up to `cap`, with full jitter: that of the code is the first"
                .to_owned(),
        );
        if let (Some(before), Some(now), None) = (before, self.total(), &self.deadline) {
            self.differs.push(format!(
                "the delays of the code take {} in all, and these up to {}: a `deadline` or a smaller `max` bounds them",
                Human(before),
                Human(now)
            ));
        }
        let left = self.broken().into_iter();
        self.missing
            .extend(left.map(|it| format!("how to keep {it}")));
    }

    /// Where a poll asks too often without a limit of time, the time that it sleeps becomes one.
    pub(super) fn bound(&mut self) {
        if self.deadline.is_some() || self.backoff != Some("fixed") || self.broken().is_empty() {
            return;
        }
        let base = self.base.as_deref().and_then(known_duration);
        let all = self
            .total()
            .zip(base)
            .map(|(it, last)| it.saturating_add(last));
        self.deadline = all.map(text_of);
        if !self.broken().is_empty() {
            self.deadline = None;
        } else if let Some(all) = all {
            self.differs.push(format!(
                "the loop sleeps for {} in all, and here that is the `deadline`, in which the questions count, too",
                Human(all)
            ));
        }
    }

    /// The rules that it breaks.
    fn broken(&self) -> Vec<String> {
        let given = self.given();
        let broken = given.broken.iter();
        broken
            .map(|it| format!("rule {}: {}", it.rule, it.message))
            .collect()
    }

    /// How long its delays are in all, if that is known.
    fn total(&self) -> Option<Duration> {
        let given = self.given();
        let policy = given.unknown.is_empty().then_some(&given.policy)?;
        policy.worst_case().total_delay()
    }

    fn given(&self) -> Given {
        let policy = Self {
            hooks: Vec::new(),
            max: self.known_max.clone().or_else(|| self.max.clone()),
            ..self.clone()
        };
        from_text(&policy.text())
    }

    /// Without a suggestion there is one thing to say: why.
    pub(super) fn only_missing(&mut self, why: String) {
        self.differs.clear();
        self.unknown.clear();
        self.missing = vec![why];
    }

    /// So many retries: attempts are one more.
    pub(super) fn retries(&mut self, retries: &Expr) {
        if written(retries).ends_with("::MAX") {
            return self.unlimited();
        }
        let max = match integer(retries) {
            Some(retries) => retries.saturating_add(1).to_string(),
            None => format!("{} + 1", operand(retries)),
        };
        self.max = Some(max);
    }

    pub(super) fn unlimited(&mut self) {
        self.max = Some("\"unlimited\"".to_owned());
    }
}

/// `"0ms"`
fn is_zero(text: &str) -> bool {
    known_duration(text).is_some_and(|it| it.is_zero())
}

/// The length of one that is written down.
pub(super) fn known_duration(text: &str) -> Option<Duration> {
    parse(text.trim_matches('"')).ok()
}

/// What a method of another library does, if nothing here says it.
pub(super) fn without_key(call: &syn::ExprMethodCall) -> String {
    let arguments = written(&call.args);
    format!(
        "`{}({arguments})` has no key here that is known: say in the keys, or in the body, what it does",
        call.method
    )
}

/// As one operand of a sum.
pub(super) fn operand(expr: &Expr) -> String {
    let text = written(expr);
    match expr {
        Expr::Binary(_) | Expr::Closure(_) | Expr::Range(_) => format!("({text})"),
        _ => text,
    }
}

/// A whole number that is written down.
pub(super) fn integer(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            _ => None,
        },
        Expr::Cast(cast) => integer(&cast.expr),
        Expr::Paren(paren) => integer(&paren.expr),
        _ => None,
    }
}

/// A number as `factor` and `jitter` take it.
pub(super) fn float(expr: &Expr) -> String {
    match expr {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Float(number) => number.base10_digits().to_owned(),
            Lit::Int(number) => format!("{}.0", number.base10_digits()),
            _ => written(expr),
        },
        Expr::Path(_) | Expr::Field(_) => format!("f64::from({})", written(expr)),
        _ => written(expr),
    }
}

/// `"100ms"` of `Duration::from_millis(100)`; anything else is an expression, which a key takes as it is.
pub(super) fn duration(expr: &Expr) -> String {
    literal_duration(expr).unwrap_or_else(|| written(expr))
}

/// The same where a name may stand for it: rules read the text, and none of them allows a `base` of 0.
pub(super) fn named_duration(expr: &Expr, named: &dyn Fn(&str) -> Option<Expr>) -> String {
    let value = match expr {
        Expr::Path(it) => it.path.get_ident().and_then(|it| named(&it.to_string())),
        _ => None,
    };
    let zero = value.as_ref().and_then(literal_duration);
    zero.filter(|it| is_zero(it))
        .unwrap_or_else(|| duration(expr))
}

pub(super) fn literal_duration(expr: &Expr) -> Option<String> {
    let call = match expr {
        Expr::Path(it) if is_zero_of_duration(&it.path) => return Some("\"0ms\"".to_owned()),
        Expr::Call(it) => it,
        _ => return None,
    };
    let Expr::Path(function) = &*call.func else {
        return None;
    };
    let unit = match function.path.segments.last()?.ident.to_string().as_str() {
        "from_secs" => "s",
        "from_millis" => "ms",
        "from_micros" => "us",
        "from_nanos" => "ns",
        "from_mins" => "m",
        _ => return None,
    };
    let number = integer(call.args.first()?)?;
    Some(format!("\"{number}{unit}\""))
}

/// `std::time::Duration::ZERO`
fn is_zero_of_duration(path: &syn::Path) -> bool {
    let mut names = path.segments.iter().rev().map(|it| it.ident.to_string());
    names.next().as_deref() == Some("ZERO") && names.next().as_deref() == Some("Duration")
}

/// The same of a number of milliseconds.
pub(super) fn millis(expr: &Expr) -> String {
    match integer(expr) {
        Some(number) => format!("\"{number}ms\""),
        None => format!("std::time::Duration::from_millis({})", written(expr)),
    }
}
