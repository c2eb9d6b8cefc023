//! The policy of a loop: its count, its delays and its limit of time.

use std::collections::BTreeSet;

use syn::spanned::Spanned as _;
use syn::{BinOp, Expr, Pat};

use super::conditions::Time;
use super::facts::{Facts, Limit, Step};
use super::power::Known;
use super::{names, patterns};
use crate::code::written;
use crate::policy::text_of;
use crate::suggest::keys::{
    Keys, duration, float, integer, known_duration, literal_duration, operand,
};

/// What is known around the loop.
pub(super) struct Outside<'o> {
    /// What the loop declares or sets.
    pub(super) own: &'o BTreeSet<String>,
    /// What it declares.
    pub(super) declared: &'o BTreeSet<String>,
    /// What a variable is set to before.
    pub(super) named: &'o dyn Fn(&str) -> Option<Expr>,
    /// Whether the loop asks, and nothing fails in it.
    pub(super) polls: bool,
}

impl Outside<'_> {
    /// Whether code in front of the loop can say the same.
    fn has(&self, expr: &Expr) -> bool {
        names(expr).is_disjoint(self.own)
    }

    pub(super) fn start(&self, counter: &str) -> Option<u64> {
        integer(&(self.named)(counter)?)
    }
}

pub(super) fn keys(
    turns: Option<(&Pat, &Expr)>,
    facts: &Facts,
    sleep: Option<&Expr>,
    time: Option<Time<'_>>,
    tried: Option<&Expr>,
    outside: &Outside<'_>,
) -> Keys {
    let mut keys = Keys {
        jitter: Some("\"none\"".to_owned()),
        ..Keys::default()
    };
    let has_deadline = match time {
        Some(Time::Length(limit)) if outside.has(limit) => {
            keys.deadline = Some(duration(limit));
            let named = variable(limit).and_then(|it| (outside.named)(&it));
            if literal_duration(named.as_ref().unwrap_or(limit)).is_none() {
                keys.unknown.push(format!(
                    "how long `{}` is: a deadline is at most 24 hours (rule R2), and a call with a longer one makes a single attempt",
                    written(limit)
                ));
            }
            true
        }
        Some(_) => {
            keys.missing.push(
                "`deadline`, the time that the loop has: it compares times, and not `elapsed()` with a duration".to_owned(),
            );
            true
        }
        None => false,
    };
    let count = Attempts {
        turns,
        facts,
        outside,
        tried: tried.map(|it| it.span().byte_range().start),
    };
    count.write(has_deadline, &mut keys);
    if let Some(sleep) = sleep {
        delays(&count, sleep, &mut keys);
    } else if facts.is_immediate {
        keys.backoff = Some("none");
    }
    if let Some(select) = &facts.beside {
        keys.missing.push(format!(
            "what else ends a sleep: the other branches of its `{select}!`; a retry sleeps to the end"
        ));
    }
    if let Some(clock) = &facts.clock {
        keys.missing.push(format!(
            "`timer`: the loop sleeps by `{clock}`, which may be a clock of its own; without the key the runtime sleeps"
        ));
    }
    if !facts.jitter && keys.factor.is_some() {
        keys.differs.push("the delays of the loop have no jitter; here they have full jitter, from 0 to the delay: `jitter = \"none\"` keeps them".to_owned());
    }
    if keys.cap.is_none() && keys.factor.is_some() {
        keys.differs.push(
            "the delays of the loop have no maximum; here it is 20 s, and `cap` sets another"
                .to_owned(),
        );
    }
    if facts.jitter
        || facts.grows
        || keys.factor.is_some()
        || facts.sleep.is_none()
        || (sleep.is_some() && keys.base.is_none())
    {
        keys.jitter = None;
    }
    if outside.polls {
        keys.bound();
    }
    keys.accept();
    if keys.jitter.is_some() {
        keys.differs.push("the loop has no jitter; `jitter = \"full\"`, the default, spreads clients that failed together".to_owned());
    }
    let bound = match keys.deadline {
        Some(_) => {
            "after the last attempt nothing sleeps; `cut_off = false` lets an attempt that has begun go on"
        }
        None => "after the last attempt nothing sleeps, and a `deadline` can bound the whole",
    };
    keys.differs.push(bound.to_owned());
    keys
}

/// A number that is written down, or one more or less than an expression.
#[derive(Clone, Copy, PartialEq)]
struct Number<'e> {
    expr: Option<&'e Expr>,
    more: i64,
}

impl<'e> Number<'e> {
    fn of(expr: &'e Expr) -> Self {
        let number = |expr: &Expr| integer(expr).and_then(|it| i64::try_from(it).ok());
        if let Some(more) = number(expr) {
            return Self { expr: None, more };
        }
        match expr {
            Expr::Paren(it) => return Self::of(&it.expr),
            Expr::Binary(it) => {
                let more = match it.op {
                    BinOp::Add(_) => number(&it.right),
                    BinOp::Sub(_) => number(&it.right).map(i64::saturating_neg),
                    _ => None,
                };
                if let Some(more) = more {
                    return Self::of(&it.left).and(more);
                }
            }
            _ => {}
        }
        Self {
            expr: Some(expr),
            more: 0,
        }
    }

    fn and(mut self, more: i64) -> Self {
        self.more = self.more.saturating_add(more);
        self
    }

    /// With the number that a name stands for.
    fn known(self, named: &dyn Fn(&str) -> Option<Expr>) -> Option<Self> {
        let value = integer(&named(&variable(self.expr?)?)?)?;
        let more = i64::try_from(value).ok()?.saturating_add(self.more);
        Some(Self { expr: None, more })
    }

    /// Attempts are at least one.
    fn text(&self) -> Option<String> {
        match self.expr {
            None => (self.more > 0).then(|| self.more.to_string()),
            Some(expr) if self.more == 0 => Some(written(expr)),
            Some(expr) if self.more > 0 => Some(format!("{} + {}", operand(expr), self.more)),
            Some(expr) => Some(format!(
                "{} - {}",
                operand(expr),
                self.more.saturating_abs()
            )),
        }
    }
}

/// How often a loop tries.
struct Attempts<'c> {
    turns: Option<(&'c Pat, &'c Expr)>,
    facts: &'c Facts,
    outside: &'c Outside<'c>,
    /// Where in the file the attempt stands.
    tried: Option<usize>,
}

impl<'c> Attempts<'c> {
    /// `max`.
    fn write(&self, has_deadline: bool, keys: &mut Keys) {
        let facts = self.facts;
        for what in &facts.compared {
            keys.missing.push(by_number(what));
        }
        let turns = self.turns.filter(|(_, it)| !is_endless(it));
        let (own, known) = (turns.map(|(_, it)| range(it)), keys.missing.len());
        if let Some(None) = own {
            keys.missing.push("`max`: the loop is over a sequence: write its length as `max`; if its elements are delays, `backoff` takes a closure from the number of the retry to its delay".to_owned());
        }
        let mut limits: Vec<Number<'_>> = Vec::new();
        for limit in &facts.limits {
            match self.number(limit) {
                Some(number) if limits.contains(&number) => {}
                Some(number) => limits.push(number),
                None => keys.missing.push(format!(
                    "`max`: the loop compares with `{}`: write it as `max`, plus one if it counts retries",
                    written(&limit.with)
                )),
            }
        }
        if let Some(left) = &facts.left {
            keys.missing.push(format!(
                "what `{left}` begins with: write it as `max`, plus one if it counts retries"
            ));
        }
        if facts.is_sequence && facts.limits.is_empty() && !matches!(own, Some(Some(_))) {
            keys.missing.push("`max`: a sequence of delays ends the loop: write its length plus one as `max`; `backoff` takes a closure from the number of the retry to its delay".to_owned());
        }
        if keys.missing.len() > known {
            return;
        }
        let all: Vec<_> = limits.iter().copied().chain(own.flatten()).collect();
        let Some(first) = all.first() else {
            keys.unlimited();
            if !has_deadline {
                keys.unknown.push("what ends the loop when nothing succeeds: it compares no count, so `max` is `\"unlimited\"`; write a number or a `deadline`".to_owned());
            }
            return;
        };
        let is_one = limits.len() <= 1 && all.iter().all(|it| it.expr == first.expr);
        let least = all.iter().map(|it| it.more).min().filter(|_| is_one);
        let number = least.map(|more| Number {
            expr: first.expr,
            more,
        });
        keys.max = number.and_then(|it| it.text());
        keys.known_max = number.and_then(|it| it.known(self.outside.named)?.text());
        if keys.max.is_none() {
            let texts: Vec<_> = facts.limits.iter().map(|it| written(&it.with)).collect();
            keys.missing.push(format!(
                "`max`: the loop compares with `{}`: say how many attempts that is",
                texts.join("` and with `")
            ));
        } else if let Some(limit) = facts.limits.first()
            && self.start(&limit.counter).is_none()
        {
            keys.unknown.push(match first.expr {
                None => "what the counter begins with: `max` is right where that is 0".to_owned(),
                Some(_) => format!(
                    "the loop compares with `{}`: `max` is right where its counter begins with 0",
                    written(&limit.with)
                ),
            });
        }
    }

    /// Of the attempts that a limit allows.
    fn number(&self, limit: &'c Limit) -> Option<Number<'c>> {
        let mut set = self.facts.assignments.iter();
        let is_reset = set.any(|(name, step)| match step {
            Step::Value(value) => *name == limit.counter && !names(value).contains(name),
            Step::Factor(_) => *name == limit.counter,
            Step::Other => false,
        });
        if is_reset || !self.outside.has(&limit.with) {
            return None;
        }
        // What is asked before the attempt is asked once more.
        let is_before = self.tried.is_some_and(|tried| limit.at < tried);
        let start = i64::try_from(self.start(&limit.counter).unwrap_or_default()).ok()?;
        let more = limit.more.saturating_sub(i64::from(is_before));
        Some(Number::of(&limit.with).and(more.saturating_sub(start)))
    }

    /// What a counter begins with.
    fn start(&self, counter: &str) -> Option<u64> {
        match self.turns {
            Some((name, Expr::Range(range)))
                if patterns::name(name).as_deref() == Some(counter) =>
            {
                range.start.as_deref().map_or(Some(0), integer)
            }
            _ => self.outside.start(counter),
        }
    }
}

/// `base`, `backoff`, `factor` and `cap`.
fn delays(count: &Attempts<'_>, sleep: &Expr, keys: &mut Keys) {
    let (facts, outside) = (count.facts, count.outside);
    let delay = Wait::of(sleep, count, 0);
    let Some(delay) = delay.filter(|it| !facts.is_millis || !(facts.grows || it.factor.is_some()))
    else {
        keys.missing.push(format!(
            "`base`, how long the loop sleeps: `{}`; write its first delay as `base`, with `factor` and `cap` if it grows, or as a closure at `backoff`",
            written(sleep)
        ));
        return;
    };
    keys.base = Some(if facts.is_millis {
        let named = variable(sleep).and_then(|it| (outside.named)(&it));
        match integer(named.as_ref().unwrap_or(sleep)) {
            Some(number) => format!("\"{number}ms\""),
            None => format!(
                "std::time::Duration::from_millis({} as u64)",
                operand(sleep)
            ),
        }
    } else {
        delay.base
    });
    keys.cap = delay.cap;
    match delay.factor {
        Some(factor) => keys.factor = Some(factor),
        None => keys.backoff = Some("fixed"),
    }
}

/// How long a loop sleeps.
struct Wait {
    base: String,
    factor: Option<String>,
    cap: Option<String>,
}

impl Wait {
    fn of(sleep: &Expr, count: &Attempts<'_>, depth: u32) -> Option<Self> {
        let (facts, outside) = (count.facts, count.outside);
        let fixed = |base: String| Self {
            base,
            factor: None,
            cap: None,
        };
        if let Some((inner, cap)) = least(sleep) {
            let mut delay = Self::of(inner, count, depth)?;
            if delay.cap.is_some() || delay.factor.is_none() || !outside.has(cap) {
                return None;
            }
            delay.cap = Some(duration(cap));
            return Some(delay);
        }
        if let Some(text) = literal_duration(sleep) {
            return Some(fixed(text));
        }
        let known = Known {
            facts,
            named: outside.named,
            start: &|counter| count.start(counter),
        };
        if let Some(it) = known.growing(sleep) {
            return Some(Self {
                base: it.base,
                factor: Some(format!("{}.0", it.factor)),
                cap: it.cap,
            });
        }
        let Some(name) = variable(sleep) else {
            let is_same = outside.has(sleep) && !facts.changes(sleep);
            let is_fixed = is_same && !facts.jitter && !is_another(sleep);
            return is_fixed.then(|| fixed(duration(sleep)));
        };
        let first = (outside.named)(&name);
        let set = facts.assignments.iter().filter(|(it, _)| *it == name);
        match set.map(|(_, step)| step).collect::<Vec<_>>().as_slice() {
            [] if outside.has(sleep) => {
                let known = first.as_ref().and_then(literal_duration);
                Some(fixed(known.unwrap_or(name)))
            }
            [] if depth < DEEPEST => Self::of(&first?, count, depth.saturating_add(1)),
            [step] if !outside.declared.contains(&name) => {
                let (factor, cap) = match step {
                    Step::Factor(factor) => (number(factor)?, None),
                    Step::Value(value) => growth(value, &name)?,
                    Step::Other => return None,
                };
                if cap.is_some_and(|it| !outside.has(it)) {
                    return None;
                }
                let known = first.as_ref().and_then(literal_duration);
                let base = known.unwrap_or(name);
                Some(Self {
                    base: if step.is_before(sleep) {
                        multiplied(&base, &factor)?
                    } else {
                        base
                    },
                    factor: Some(factor),
                    cap: cap.map(duration),
                })
            }
            _ => None,
        }
    }
}

/// What some attempts do.
pub(super) fn by_number(what: &str) -> String {
    format!(
        "what the loop does only where `{what}`: it asks for the number of the attempt, `retry.attempt()` in a hook"
    )
}

/// A delay that has grown before the first sleep.
fn multiplied(base: &str, factor: &str) -> Option<String> {
    let whole = factor.strip_suffix(".0");
    if !base.starts_with('"') {
        return Some(match whole {
            Some(number) => format!("{base} * {number}"),
            None => format!("{base}.mul_f64({factor})"),
        });
    }
    let number: u32 = whole?.parse().ok()?;
    Some(text_of(known_duration(base)?.checked_mul(number)?))
}

/// Names lead to names.
const DEEPEST: u32 = 4;

fn variable(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(it) => it.path.get_ident().map(ToString::to_string),
        Expr::Paren(it) => variable(&it.expr),
        _ => None,
    }
}

/// `backoff.next().unwrap()`: each time another one, by its name.
fn is_another(expr: &Expr) -> bool {
    let Expr::MethodCall(it) = expr else {
        return false;
    };
    let name = it.method.to_string();
    name.starts_with("next") || name.contains("backoff") || is_another(&it.receiver)
}

/// `a.min(b)`, `min(a, b)`.
fn least(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::Paren(it) => least(&it.expr),
        Expr::MethodCall(it) if it.method == "min" => Some((&it.receiver, it.args.first()?)),
        Expr::Call(it) => {
            let Expr::Path(function) = &*it.func else {
                return None;
            };
            let is_min = function.path.segments.last()?.ident == "min";
            let mut arguments = it.args.iter();
            let (one, other) = (arguments.next()?, arguments.next()?);
            is_min.then_some((one, other))
        }
        _ => None,
    }
}

/// The factor and the cap of `(name * 2).min(cap)`.
fn growth<'e>(value: &'e Expr, name: &str) -> Option<(String, Option<&'e Expr>)> {
    if let Some((inner, cap)) = least(value) {
        let (inner, cap) = if names(inner).contains(name) {
            (inner, cap)
        } else {
            (cap, inner)
        };
        let (factor, None) = growth(inner, name)? else {
            return None;
        };
        return Some((factor, Some(cap)));
    }
    let is_it = |expr: &Expr| variable(expr).as_deref() == Some(name);
    let factor = match value {
        Expr::Paren(it) => return growth(&it.expr, name),
        Expr::Binary(it) => match it.op {
            BinOp::Mul(_) if is_it(&it.left) => number(&it.right)?,
            BinOp::Mul(_) if is_it(&it.right) => number(&it.left)?,
            BinOp::Add(_) if is_it(&it.left) && is_it(&it.right) => "2.0".to_owned(),
            _ => return None,
        },
        Expr::MethodCall(it) if is_it(&it.receiver) => match it.method.to_string().as_str() {
            "saturating_mul" | "mul_f64" | "mul_f32" => number(it.args.first()?)?,
            _ => return None,
        },
        _ => return None,
    };
    Some((factor, None))
}

/// A factor that is written down.
fn number(expr: &Expr) -> Option<String> {
    matches!(expr, Expr::Lit(_)).then(|| float(expr))
}

/// `1..`
pub(super) fn is_endless(turns: &Expr) -> bool {
    matches!(turns, Expr::Range(it) if it.end.is_none())
}

/// How many turns `0..n` are; nothing where that is not known.
fn range(turns: &Expr) -> Option<Number<'_>> {
    let Expr::Range(range) = turns else {
        return None;
    };
    let start = range.start.as_deref().map_or(Some(0), integer)?;
    let end = range.end.as_deref()?;
    let more = i64::from(matches!(range.limits, syn::RangeLimits::Closed(_)));
    Some(Number::of(end).and(more.saturating_sub(i64::try_from(start).ok()?)))
}
