//! Rules about keys that only an attribute can have; the runtime's rules know
//! the others.

use proc_macro2::Span;
use reattempt_policy::rules::RuleId;
use syn::Expr;
use syn::spanned::Spanned as _;

use super::limits::gates;
use crate::args::{Args, Filter, Given, Predicate, Value};
use crate::diagnostics::{Diagnostics, Place};
use crate::literal::Attempts;
use crate::slips::quoted_function;
use crate::tokens::written;

/// Rules about keys that only an attribute can have.
pub(super) fn together(args: &Args, faults: &mut Diagnostics) {
    refused_value(args, faults);
    if let Some(Value {
        given: Given::Literal(Attempts(1), _),
        ..
    }) = &args.max
        && !names_policy(args)
    {
        // An error is judged where a breaker, a bulkhead or a throttle records the attempt, too, and a budget pays for copies.
        let is_asked = gates(args).next().is_some() || args.hedge.is_some();
        let unasked = |place: Option<Span>| place.filter(|_| !is_asked);
        let unpaid = |place: Option<Span>| place.filter(|_| args.hedge.is_none());
        let only_for_retries = [
            ("on", unasked(args.on.as_ref().map(|filter| filter.key))),
            (
                "except",
                unasked(args.except.as_ref().map(|filter| filter.key)),
            ),
            (
                "budget",
                unpaid(args.budget.as_ref().map(|share| share.key)),
            ),
            ("verify", args.verify.as_ref().map(|code| code.key)),
            (
                "retry_after",
                args.retry_after.as_ref().map(|code| code.key),
            ),
            (
                "before_retry",
                args.before_retry.as_ref().map(|code| code.key),
            ),
            ("on_retry", args.on_retry.as_ref().map(|code| code.key)),
            ("strategy", args.strategy.as_ref().map(|code| code.key)),
            ("clone", args.clone.as_ref().map(|names| names.key)),
        ];
        for (key, place) in only_for_retries {
            if let Some(span) = place {
                faults.push(span, RuleId::X5, format!("`{key}` matters only for a retry, and `max = 1` allows none; drop `{key}` or write `max = 3`"));
            }
        }
    }
    if let Some(verify) = &args.verify {
        let idempotent = match &args.idempotent {
            Some(Value {
                given: Given::Literal(on, _),
                ..
            }) => *on,
            Some(_) => false,
            None => args.policy.is_none(),
        };
        if idempotent {
            faults.push(verify.key, RuleId::X13, "`verify` is asked only about operations that must not run twice; add `idempotent = false` or drop `verify`");
        }
    }
    nothing_proved(args, faults);
    no_question(args, faults);
    two_answers(args, faults);
    nothing_left(args, faults);
    literals(args, faults);
    waiting_observer(args, faults);
}

/// X9: `except` leaves nothing of `on`, as far as syntax shows.
fn nothing_left(args: &Args, faults: &mut Diagnostics) {
    let Some(Filter {
        given: Given::Literal(except, place),
        ..
    }) = &args.except
    else {
        return;
    };
    let on = match args.on.as_ref().map(|on| &on.given) {
        Some(Given::Literal(on, _)) => Some(on),
        _ => None,
    };
    if on.is_some_and(|on| on.text() == except.text()) {
        faults.push(
            *place,
            RuleId::X9,
            format!(
                "`except` and `on` both name `{}`, so nothing would be retried; drop one of them",
                except.text()
            ),
        );
        return;
    }
    let Some((excepted, false)) = except.alternatives() else {
        return;
    };
    if excepted.iter().any(|pattern| pattern == "_") {
        faults.push(*place, RuleId::X9, "`except(_)` names every error, so nothing would be retried; name the errors that are not worth another attempt");
        return;
    }
    let named = on.and_then(Predicate::alternatives);
    if named.is_some_and(|(named, _)| named.iter().all(|pattern| excepted.contains(pattern))) {
        faults.push(*place, RuleId::X9, "`except` names every error that `on` names, so nothing would be retried; drop one of them");
    }
}

/// `until = 5`: a literal where code belongs.
fn literals(args: &Args, faults: &mut Diagnostics) {
    let asks = |key: &str, about: &str| {
        format!("`{key}` takes a closure or a path; write `{key} = |{about}| ...`")
    };
    let runs = |key: &str| {
        format!("`{key}` runs a closure or a path for each retry; write `{key} = |retry| ...`")
    };
    let timer = "`timer` takes a value that implements `reattempt::timer::Timer` or `reattempt::timer::BlockingTimer`; write `timer = MyTimer`, or drop `timer`";
    for (code, rule, message) in [
        (&args.until, RuleId::S9, asks("until", "value")),
        (&args.verify, RuleId::S9, asks("verify", "error")),
        (&args.before_retry, RuleId::S9, runs("before_retry")),
        (&args.on_retry, RuleId::S9, runs("on_retry")),
        (&args.timer, RuleId::Type, timer.to_owned()),
    ] {
        if let Some(Ok(value @ Expr::Lit(_))) = code.as_ref().map(|code| &code.given)
            && quoted_function(value).is_none()
        {
            faults.push(Place::of(value), rule, message);
        }
    }
}

/// `on_retry` answers at once.
fn waiting_observer(args: &Args, faults: &mut Diagnostics) {
    let Some(Ok(hook)) = args.on_retry.as_ref().map(|code| &code.given) else {
        return;
    };
    if let Some(span) = async_closure(hook) {
        faults.push(
            span,
            RuleId::S9,
            "`on_retry` only observes and cannot be async; move code that waits to `before_retry`",
        );
    }
}

/// `policy = "storage"`: the configuration may allow retries where the code does not.
fn names_policy(args: &Args) -> bool {
    let policy = args.policy.as_ref().map(|code| &code.given);
    matches!(policy, Some(Ok(Expr::Lit(_))))
}

/// `retry_after` is asked and answers at once.
fn no_question(args: &Args, faults: &mut Diagnostics) {
    let Some(Ok(asked)) = args.retry_after.as_ref().map(|code| &code.given) else {
        return;
    };
    if let Expr::Lit(literal) = asked {
        faults.push(
            Place::of(literal),
            RuleId::S9,
            "`retry_after` takes a closure or a path; write `retry_after = |error| ...`, or `base` for a delay that is always the same",
        );
    }
    if let Some(span) = async_closure(asked) {
        faults.push(
            span,
            RuleId::S9,
            "`retry_after` returns at once and cannot be async; make the closure sync",
        );
    }
}

/// X11: `fallback` answers where `map_err` would.
fn two_answers(args: &Args, faults: &mut Diagnostics) {
    if let (Some(map_err), Some(_)) = (&args.map_err, &args.fallback) {
        faults.push(
            map_err.key,
            RuleId::X11,
            "`map_err` and `fallback` both set what a call that gives up returns; keep `map_err` to return another error, or `fallback` to return a value",
        );
    }
}

/// `idempotent = false` without `verify`: only what proves that nothing was
/// executed is retried.
pub(super) fn wants_proof(args: &Args) -> bool {
    let strict = matches!(
        &args.idempotent,
        Some(Value {
            given: Given::Literal(false, _),
            ..
        })
    );
    strict && args.verify.is_none()
}

/// A pattern says that an error is worth another attempt, not that nothing was
/// executed: with `idempotent = false` it would retry nothing.
fn nothing_proved(args: &Args, faults: &mut Diagnostics) {
    if !wants_proof(args) {
        return;
    }
    if let Some(Filter {
        given: Given::Literal(Predicate::Pattern(pattern), place),
        ..
    }) = &args.on
    {
        let said = written(pattern);
        let function = if said == "_" {
            "|_| reattempt::Verdict::Refused".to_owned()
        } else {
            format!(
                "|error| match error {{ {said} => reattempt::Verdict::Refused, _ => reattempt::Verdict::Permanent }}"
            )
        };
        faults.push(
            *place,
            RuleId::S9,
            format!("a pattern cannot show that nothing ran, so `idempotent = false` would retry nothing; if these errors prove it, write `on = {function}`, else add `verify`"),
        );
    }
}

/// A hook that takes the value which `until` refused, without `until`.
fn refused_value(args: &Args, faults: &mut Diagnostics) {
    if args.until.is_some() {
        return;
    }
    for (key, code) in [
        ("on_retry", &args.on_retry),
        ("before_retry", &args.before_retry),
    ] {
        let code = code.as_ref().and_then(|code| code.given.as_ref().ok());
        let closure = code.and_then(crate::item::closure_of);
        let Some(second) = closure.and_then(|closure| closure.inputs.iter().nth(1)) else {
            continue;
        };
        faults.push(
            second.span(),
            RuleId::S9,
            format!("the second parameter of `{key}` is the value that `until` refused, and there is no `until` here; write `{key} = |retry| ...`, of which `error()`, `delay()` and `attempt()` tell the rest, or write `until = |value| ...`"),
        );
    }
}

/// The `async` of a closure that is certainly async.
pub(super) fn async_closure(code: &Expr) -> Option<Span> {
    match code {
        Expr::Closure(closure) => match (&closure.asyncness, &*closure.body) {
            (Some(asyncness), _) => Some(asyncness.span),
            (None, Expr::Async(block)) => Some(block.async_token.span),
            _ => None,
        },
        _ => None,
    }
}
