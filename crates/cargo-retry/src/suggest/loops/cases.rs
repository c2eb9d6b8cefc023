//! Which errors a loop retries -> the key `on`.

use std::collections::BTreeSet;

use super::conditions::Guard;
use super::failure::Case;
use super::patterns::{Bound, is_any, name, shown};

/// What the loop says of errors.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Retried {
    /// It tells none from another.
    All,
    /// The key, as it is written.
    Some(String),
    /// An error ends it, whatever it is.
    None,
}

/// The errors that these cases retry; the first that an error meets decides.
pub(super) fn retried(cases: &[Case<'_>]) -> Retried {
    let end = cases.iter().position(|it| it.scope.is_any());
    let met = end.map_or(cases, |end| cases.get(..=end).unwrap_or(cases));
    if met.iter().all(|it| it.again) {
        return Retried::All;
    }
    if !met.iter().any(|it| it.again) {
        return Retried::None;
    }
    let (rest, cases) = match met.split_last() {
        Some((last, cases)) if last.scope.is_any() => (last.again, cases),
        _ => (false, met),
    };
    // What follows the last that differs says what the rest says.
    let differs = cases.iter().rposition(|it| it.again != rest);
    let cases = differs.map_or(cases, |it| cases.get(..=it).unwrap_or(cases));
    Retried::Some(condition(cases, rest).unwrap_or_else(|| by_pattern(cases, rest)))
}

fn guard(case: &Case<'_>) -> String {
    let guards: Vec<_> = case
        .scope
        .guards
        .iter()
        .map(|it| it.text.as_str())
        .collect();
    guards.join(" && ")
}

/// `on = |error| condition`, where the whole error has one name everywhere.
fn condition(cases: &[Case<'_>], rest: bool) -> Option<String> {
    let mut known = None;
    for case in cases {
        let Some(pattern) = case.scope.pattern else {
            continue;
        };
        match name(pattern) {
            Some(name) if known.as_ref().is_none_or(|it| *it == name) => known = Some(name),
            None if is_any(pattern) => {}
            _ => return None,
        }
    }
    // From the last to the first: which of what is left are retried; nothing while that is `rest`.
    let mut text = None::<String>;
    for case in cases.iter().rev() {
        let own = guard(case);
        let opposite = match case.scope.guards.as_slice() {
            [] => return None,
            [guard] => guard.opposite.clone(),
            _ => format!("!({own})"),
        };
        text = match (text, case.again) {
            (None, again) if again == rest => None,
            (None, true) => Some(own),
            (None, false) => Some(opposite),
            (Some(text), true) => Some(format!("{own} || {text}")),
            (Some(text), false) if text.contains("||") => Some(format!("{opposite} && ({text})")),
            (Some(text), false) => Some(format!("{opposite} && {text}")),
        };
    }
    let text = text?;
    let uses = cases.iter().flat_map(|it| &it.scope.guards);
    let is_used = |name: &String| uses.clone().any(|it| it.names.contains(name));
    let name = known.filter(is_used).unwrap_or_else(|| "_".to_owned());
    Some(format!("on = |{name}| {text}"))
}

/// Patterns, and what is asked beside them.
fn by_pattern(cases: &[Case<'_>], rest: bool) -> String {
    let arms: Vec<_> = cases
        .iter()
        .map(|it| (pattern(it), guard(it), it.again))
        .collect();
    let is_plain = arms.iter().all(|(_, guard, _)| guard.is_empty());
    let is_alone = arms.len() == 1 || is_plain;
    if is_alone && arms.iter().all(|(.., again)| *again != rest) {
        let patterns: Vec<_> = arms.iter().map(|(it, ..)| it.as_str()).collect();
        let mut patterns = patterns.join(" | ");
        if let [(_, guard, _)] = arms.as_slice()
            && !guard.is_empty()
        {
            patterns = format!("{patterns} if {guard}");
        }
        return if rest {
            format!("on = |error| !matches!(error, {patterns})")
        } else {
            format!("on({patterns})")
        };
    }
    let arms = arms
        .into_iter()
        .map(|(pattern, guard, again)| match guard.as_str() {
            "" => format!("{pattern} => {again}"),
            guard => format!("{pattern} if {guard} => {again}"),
        });
    let arms: Vec<_> = arms.chain([format!("_ => {rest}")]).collect();
    format!("on = |error| match error {{ {} }}", arms.join(", "))
}

/// The errors of a case, as one pattern with its guard; nothing where it is every error.
pub(super) fn taken(case: &Case<'_>) -> Option<Guard> {
    if case.scope.is_any() {
        return None;
    }
    let text = match guard(case).as_str() {
        "" => pattern(case),
        guard => format!("{} if {guard}", pattern(case)),
    };
    let bound = case.scope.pattern.map(Bound::of).unwrap_or_default().all();
    let names = case.scope.guards.iter().flat_map(|it| &it.names);
    Some(Guard {
        opposite: format!("!matches!(error, {text})"),
        text,
        names: names.filter(|it| !bound.contains(*it)).cloned().collect(),
    })
}

/// The pattern of an error, with the names that its guards use.
pub(super) fn pattern(case: &Case<'_>) -> String {
    let guards = case.scope.guards.iter().flat_map(|it| &it.names);
    let used: BTreeSet<_> = guards.cloned().collect();
    let pattern = case.scope.pattern;
    pattern.map_or_else(|| "_".to_owned(), |it| shown(it, &used))
}
