//! The policy of a loop: its count, its delays and its limit of time.

use std::collections::BTreeSet;

use syn::Expr;

use super::conditions::Time;
use super::facts::Facts;
use super::names;
use crate::code::written;
use crate::suggest::keys::{Keys, duration, integer, literal_duration, operand};

/// What is known around the loop.
pub(super) struct Outside<'o> {
    /// What the loop declares or sets.
    pub(super) own: &'o BTreeSet<String>,
    /// What a variable is set to before.
    pub(super) named: &'o dyn Fn(&str) -> Option<Expr>,
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
    turns: Option<&Expr>,
    facts: &Facts,
    sleep: Option<&Expr>,
    time: Option<Time<'_>>,
    outside: &Outside<'_>,
) -> Keys {
    let mut keys = Keys {
        jitter: Some("\"none\"".to_owned()),
        ..Keys::default()
    };
    let has_deadline = match time {
        Some(Time::Length(limit)) if outside.has(limit) => {
            keys.deadline = Some(duration(limit));
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
    attempts(turns, facts, has_deadline, outside, &mut keys);
    if let Some(sleep) = sleep {
        delays(facts, sleep, outside, &mut keys);
    }
    if facts.jitter || facts.grows {
        keys.jitter = None;
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

/// `max`.
fn attempts(
    turns: Option<&Expr>,
    facts: &Facts,
    has_deadline: bool,
    outside: &Outside<'_>,
    keys: &mut Keys,
) {
    let sequence = "`max`: the loop is over a sequence: write its length as `max`; if its elements are delays, `backoff` takes a closure from the number of the retry to its delay";
    match turns.map(count) {
        Some(Some(max)) => return keys.max = Some(max),
        None if facts.is_sequence && facts.limit.is_none() => {}
        Some(None) => {}
        None => return counted(facts, has_deadline, outside, keys),
    }
    keys.missing.push(sequence.to_owned());
}

/// `max` of a loop that counts for itself.
fn counted(facts: &Facts, has_deadline: bool, outside: &Outside<'_>, keys: &mut Keys) {
    let Some(limit) = &facts.limit else {
        if let Some(left) = &facts.left {
            keys.missing.push(format!(
                "what `{left}` begins with: write it as `max`, plus one if it counts retries"
            ));
            return;
        }
        keys.unlimited();
        if !has_deadline {
            keys.unknown.push("what ends the loop when nothing succeeds: it compares no count, so `max` is `\"unlimited\"`; write a number or a `deadline`".to_owned());
        }
        return;
    };
    let start = outside.start(&limit.counter);
    let more = limit.more.checked_sub(start.unwrap_or_default());
    let text = written(&limit.with);
    keys.max = match (integer(&limit.with), more) {
        (Some(number), _) => {
            let all = number.saturating_add(limit.more);
            Some(all.saturating_sub(start.unwrap_or_default()).to_string())
        }
        (None, Some(0)) if outside.has(&limit.with) => Some(text.clone()),
        (None, Some(more)) if outside.has(&limit.with) => {
            Some(format!("{} + {more}", operand(&limit.with)))
        }
        _ => None,
    };
    match (&keys.max, start) {
        (Some(_), Some(_)) => {}
        (Some(max), None) if *max == text || !text.chars().all(|it| it.is_ascii_digit()) => {
            keys.unknown.push(format!(
                "the loop compares with `{text}`: `max` is right where its counter begins with 0"
            ));
        }
        (Some(_), None) => keys
            .unknown
            .push("what the counter begins with: `max` is right where that is 0".to_owned()),
        (None, _) => keys.missing.push(format!(
            "`max`: the loop compares with `{text}`: write it as `max`, plus one if it counts retries"
        )),
    }
}

/// `base` and `backoff`.
fn delays(facts: &Facts, sleep: &Expr, outside: &Outside<'_>, keys: &mut Keys) {
    let first = match sleep {
        Expr::Path(path) => path
            .path
            .get_ident()
            .and_then(|it| (outside.named)(&it.to_string())),
        _ => None,
    };
    let is_fixed = !facts.grows && outside.has(sleep);
    keys.base = literal_duration(sleep)
        .or_else(|| literal_duration(&first?))
        .or_else(|| is_fixed.then(|| duration(sleep)));
    if keys.base.is_none() && facts.grows {
        keys.unknown.push(format!(
            "the first delay of `{}`: write it as `base`, and its bound as `cap`",
            written(sleep)
        ));
    } else if keys.base.is_none() {
        keys.unknown.push(format!(
            "how long `{}` is: write it as `base`",
            duration(sleep)
        ));
    }
    if is_fixed && keys.base.is_some() {
        keys.backoff = Some("fixed");
    }
}

/// How many turns `0..n` are.
fn count(range: &Expr) -> Option<String> {
    let Expr::Range(range) = range else {
        return None;
    };
    let start = range.start.as_deref().map_or(Some(0), integer)?;
    let end = range.end.as_deref()?;
    let more = u64::from(matches!(range.limits, syn::RangeLimits::Closed(_)));
    Some(match (integer(end), start, more) {
        (Some(end), ..) => end.saturating_sub(start).saturating_add(more).to_string(),
        (None, 0, 0) | (None, 1, 1) => written(end),
        (None, 0, 1) => format!("{} + 1", written(end)),
        (None, ..) => return None,
    })
}
