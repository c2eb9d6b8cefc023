//! What a loop logs and how long an error asks it to sleep -> the keys `on_retry` and `retry_after`.

use std::collections::BTreeSet;

use syn::Expr;
use syn::visit::Visit as _;

use super::facts::Facts;
use super::failure::{Failure, Log, Scope};
use super::names;
use super::patterns::{Bound, is_any, name, shown};
use super::render::rendered;
use crate::code::written;
use crate::suggest::brief;

/// What a hook can name of the loop.
pub(super) struct Names<'n> {
    pub(super) facts: &'n Facts,
    /// What the loop declares or sets.
    pub(super) own: &'n BTreeSet<String>,
    /// The variable that holds the delay.
    pub(super) delay: Option<String>,
    /// What a counter begins with.
    pub(super) start: &'n dyn Fn(&str) -> Option<u64>,
}

/// A key, and what of the loop it cannot say.
#[derive(Default)]
pub(super) struct Hook {
    pub(super) key: Option<String>,
    pub(super) missing: Vec<String>,
}

/// The lines of its log.
pub(super) fn on_retry(failure: &Failure<'_>, known: &Names<'_>) -> Hook {
    let mut hook = Hook::default();
    let (mut lines, mut uses_retry) = (Vec::new(), false);
    // Where one kind of error alone is retried, the hook sees no other.
    let again: Vec<_> = failure.cases.iter().filter(|it| it.again).collect();
    let alone = match again.as_slice() {
        [it] => Some(&it.scope),
        _ => None,
    };
    for log in &failure.logs {
        match line(log, known, alone) {
            Ok((line, uses)) => {
                uses_retry |= uses;
                lines.push(line);
            }
            Err(name) => hook.missing.push(format!(
                "`on_retry`, for `{}`: it names `{name}`, which only the loop has",
                brief(&written(&log.line))
            )),
        }
    }
    let body = match lines.as_slice() {
        [] => return hook,
        [line] if line.starts_with("if ") => line.clone(),
        [line] if !line.contains(';') && !line.starts_with('#') => line.clone(),
        [line] => format!("{{ {line}; }}"),
        _ => format!("{{ {}; }}", lines.join("; ")),
    };
    let parameter = if uses_retry { "retry" } else { "_" };
    hook.key = Some(format!("on_retry = |{parameter}| {body}"));
    hook
}

/// A line as a statement, and whether it needs the retry; or the name that is missing.
fn line(
    log: &Log<'_>,
    known: &Names<'_>,
    alone: Option<&Scope<'_>>,
) -> Result<(String, bool), String> {
    let scope = &log.scope;
    let mut used = names(&log.line);
    let is_known =
        |text: &str| alone.is_some_and(|it| it.guards.iter().any(|known| known.text == text));
    let asked = scope.guards.iter().filter(|it| !is_known(&it.text));
    let unless = scope.unless.iter().filter(|it| !is_known(&it.opposite));
    let texts = asked.clone().map(|it| it.text.as_str());
    let guards: Vec<_> = texts
        .chain(unless.clone().map(|it| it.opposite.as_str()))
        .collect();
    used.extend(asked.chain(unless).flat_map(|it| it.names.iter().cloned()));
    let mut of_others = scope.not.iter().flat_map(|it| &it.names);
    if let Some(name) = of_others.find(|it| known.own.contains(*it)) {
        return Err(name.clone());
    }
    let of_pattern = scope.pattern.map(Bound::of).unwrap_or_default().all();
    let mut lets = Vec::new();
    for name in &used {
        if scope.bound.contains(name) {
            if !of_pattern.contains(name) {
                return Err(name.clone());
            }
            continue;
        }
        // What the loop does not set says the same in the hook.
        let is_delay = known.delay.as_ref() == Some(name) && known.own.contains(name);
        if (is_delay || known.facts.counters.has(name)) && !log.formats {
            return Err(name.clone());
        }
        if is_delay {
            lets.push(format!("let {name} = retry.delay(); "));
        } else if known.facts.counters.has(name) {
            if is_computed_with(log, name) {
                return Err(name.clone());
            }
            lets.push(format!("let {name} = {}; ", count(log, name, known)));
        } else if known.own.contains(name) {
            return Err(name.clone());
        }
    }
    let text = rendered(&log.line, &scope.values);
    let same = alone.and_then(|it| it.pattern).map(written);
    let is_of_one = scope
        .pattern
        .is_some_and(|it| !is_any(it) && same != Some(written(it)));
    let needs_error = is_of_one || !scope.bound.is_disjoint(&used) || !scope.not.is_empty();
    let mut line = format!("{}{text}", lets.concat());
    if !guards.is_empty() {
        line = format!("if {} {{ {line}; }}", guards.join(" && "));
    }
    if needs_error {
        let pattern = scope
            .pattern
            .map_or_else(|| "_".to_owned(), |it| shown(it, &used));
        let others: Vec<_> = scope.not.iter().map(|it| it.opposite.as_str()).collect();
        let filter = match others.as_slice() {
            [] => String::new(),
            all => format!(".filter(|&error| {})", all.join(" && ")),
        };
        line = format!("if let Some({pattern}) = retry.error(){filter} {{ {line}; }}");
    }
    Ok((line, needs_error || !lets.is_empty()))
}

/// The number of the attempt, as the loop counts it where the line stands.
fn count(log: &Log<'_>, name: &str, known: &Names<'_>) -> String {
    let start = (known.start)(name).unwrap_or_default();
    let is_before = known.facts.counted_at.iter().any(|(it, at)| {
        it == name && *at < syn::spanned::Spanned::span(&log.line).byte_range().start
    });
    match (start, is_before) {
        (0, true) | (1, false) => "retry.attempt()".to_owned(),
        (0, false) => "retry.attempt() - 1".to_owned(),
        (start, true) => format!("retry.attempt() + {start}"),
        (start, false) => format!("retry.attempt() + {}", start.saturating_sub(1)),
    }
}

/// Whether the line computes with it, where its type matters.
fn is_computed_with(log: &Log<'_>, name: &str) -> bool {
    let text = rendered(&log.line, &BTreeSet::new());
    let signs = ['+', '-', '*', '/', '%'];
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text.get(..at), text.get(at.saturating_add(name.len())..));
        let before = before.is_some_and(|it| it.trim_end().ends_with(signs));
        let number = |it: &str| {
            it.trim_start_matches(signs)
                .trim_start()
                .starts_with(|it: char| it.is_ascii_digit())
        };
        let after = after.map(str::trim_start);
        before || after.is_some_and(|it| it.starts_with(signs) && !number(it))
    })
}

/// The delay that the error has.
pub(super) fn retry_after(failure: &Failure<'_>, known: &Names<'_>) -> Hook {
    let mut hook = Hook::default();
    let of_error = |scope: &Scope<'_>, time: &Expr| !names(time).is_disjoint(&scope.bound);
    let mut arms = Vec::new();
    for (scope, time) in failure
        .sleeps
        .iter()
        .filter(|(scope, time)| of_error(scope, time))
    {
        if let Some((name, asked)) = &scope.given
            && matches!(time, Expr::Path(path) if path.path.is_ident(name))
        {
            arms.push((scope, asked.clone(), true));
            continue;
        }
        let mut own = Bound::default();
        own.visit_expr(time);
        let own = own.all();
        let mut used = names(*time);
        used.retain(|it| !own.contains(it));
        let missing = used
            .iter()
            .find(|it| known.own.contains(*it) && !scope.bound.contains(*it));
        let is_time = !written(*time).chars().all(|it| it.is_ascii_digit());
        if let Some(missing) = missing.filter(|_| is_time) {
            hook.missing.push(format!(
                "`retry_after`: the loop sleeps for `{}`, which names `{missing}` of the loop",
                written(*time)
            ));
            continue;
        }
        let bound = scope.pattern.map(Bound::of).unwrap_or_default().all();
        if !used.iter().any(|it| bound.contains(it)) {
            hook.missing.push(format!(
                "`retry_after`: the loop sleeps for `{}` of an error",
                written(*time)
            ));
            continue;
        }
        arms.push((scope, rendered(*time, &scope.values), false));
    }
    hook.key = match arms.as_slice() {
        [] => None,
        [(scope, time, is_option)]
            if (*is_option || scope.guards.is_empty())
                && scope.pattern.and_then(name).is_some() =>
        {
            let name = scope.pattern.and_then(name).unwrap_or_default();
            Some(format!("retry_after = |{name}| {time}"))
        }
        arms => {
            let arms: Vec<_> = arms
                .iter()
                .map(|(scope, time, is_option)| arm(scope, time, *is_option))
                .collect();
            let rest = "_ => None";
            Some(format!(
                "retry_after = |error| match error {{ {}, {rest} }}",
                arms.join(", ")
            ))
        }
    };
    hook
}

fn arm(scope: &Scope<'_>, time: &str, is_option: bool) -> String {
    let words = time.split(|it: char| !it.is_alphanumeric() && it != '_');
    let mut used: BTreeSet<String> = words.map(ToOwned::to_owned).collect();
    used.extend(scope.guards.iter().flat_map(|it| it.names.iter().cloned()));
    let pattern = scope
        .pattern
        .map_or_else(|| "_".to_owned(), |it| shown(it, &used));
    let guards: Vec<_> = scope.guards.iter().map(|it| it.text.as_str()).collect();
    if is_option {
        return format!("{pattern} => {time}");
    }
    if guards.is_empty() {
        return format!("{pattern} => Some({time})");
    }
    format!("{pattern} if {} => Some({time})", guards.join(" && "))
}
