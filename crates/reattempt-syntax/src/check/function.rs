//! Which functions cannot be retried, and which keys do not fit a function.

use reattempt_policy::rules::RuleId;
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;
use syn::{Ident, Pat, ReturnType};

use super::limits;
use super::together::async_closure;
use crate::args::{Args, Filter, Given, Names, Predicate};
use crate::diagnostics::Diagnostics;
use crate::item::{Answer, Flow, Function, is_retry, text};
use crate::slips;
use crate::tokens::test_of_kind;

/// What a policy is about, in messages.
pub(super) struct Subject {
    /// "this function", or "the method" with its name.
    whole: String,
    /// The same without its article.
    noun: String,
}

impl Subject {
    fn of(function: &Function) -> Self {
        if !function.in_block {
            return Self::this("function");
        }
        let noun = format!("method `{}`", function.signature.ident);
        Self {
            whole: format!("the {noun}"),
            noun,
        }
    }

    /// What the attribute or the macro stands at.
    pub(super) fn this(noun: &str) -> Self {
        Self {
            whole: format!("this {noun}"),
            noun: noun.to_owned(),
        }
    }
}

/// What can't be retried at all.
pub(super) fn signature(
    args: &Args,
    function: &Function,
    answer: &Answer,
    flow: &Flow,
    faults: &mut Diagnostics,
) {
    let signature = &function.signature;
    if let Some(constness) = &signature.constness {
        faults.push(
            constness.span,
            RuleId::S3,
            "a `const fn` cannot wait between attempts; drop `const`, or retry in the function that calls this one",
        );
    }
    if function.body.is_none() {
        faults.push(
            signature.ident.span(),
            RuleId::S3,
            "a function without a body cannot be retried; put `#[retry]` on the implementations",
        );
        return;
    }
    second_attribute(function, faults);
    track_caller(function, faults);
    let fixes =
        "return `Result` or `Option`, or add `until = |value| ...` to say which values are final";
    match answer {
        Answer::Other(ty) if args.until.is_none() => faults.push(
            ty.span(),
            RuleId::S1,
            format!(
                "a retry cannot tell success from failure in `{}`; {fixes}",
                text(ty)
            ),
        ),
        Answer::Inferred
            if matches!(signature.output, ReturnType::Default) && args.until.is_none() =>
        {
            faults.push(
                signature.paren_token.span.close(),
                RuleId::S1,
                format!(
                    "a retry needs to know what failed, and this function returns nothing; {fixes}"
                ),
            );
        }
        Answer::Option(ty)
            if args.on.is_none() && args.until.is_none() && super::together::wants_proof(args) =>
        {
            faults.push(
                ty.span(),
                RuleId::S1,
                "`None` cannot show that nothing ran, so `idempotent = false` would retry nothing; return a `Result`, or add `verify`",
            );
        }
        _ => {}
    }
    if matches!(flow, Flow::Sync) {
        blocking(args, &Subject::of(function), faults);
    }
    cut_off(args, function, answer, flow, faults);
    without_error(args, function, answer, faults);
    for (key, filter) in [("on", &args.on), ("except", &args.except)] {
        kind_of_error(key, filter.as_ref(), answer, faults);
    }
}

/// `on(ErrorKind::TimedOut)` on a function that returns an `io::Error`, which only has a kind.
fn kind_of_error(key: &str, filter: Option<&Filter>, answer: &Answer, faults: &mut Diagnostics) {
    let Some(Given::Literal(Predicate::Pattern(pattern), place)) = filter.map(|it| &it.given)
    else {
        return;
    };
    let Ok(parsed) = Pat::parse_multi_with_leading_vert.parse2(pattern.clone()) else {
        return;
    };
    let error = answer.error_name();
    let has_status = match (answer.error(), answer.ty()) {
        (Some(error), _) => text(error) == "reqwest::Error",
        (None, Some(alias)) => text(alias).starts_with("reqwest::Result"),
        (None, None) => false,
    };
    let is_kind = error.as_deref() == Some("ErrorKind");
    let of_kind = test_of_kind(&parsed).filter(|_| error.is_some() && !is_kind);
    let of_status = slips::test_of_status(&parsed).filter(|_| has_status);
    let tests = [("kind", of_kind), ("status", of_status)];
    for (what, test) in tests {
        if let Some(test) = test {
            faults.push(
                *place,
                RuleId::S9,
                format!("the pattern is compared with the error, and this is its {what}; write `{key} = |error| {test}`"),
            );
        }
    }
    let named = answer.error().map(text).unwrap_or_default();
    let is_no_number = answer.holds_error() || named == "String" || named.ends_with("::Error");
    if is_no_number && !has_status && slips::is_number(&parsed) {
        faults.push(*place, RuleId::S9, slips::asks_error(key));
    }
}

/// `context = order` on a function with a parameter `order`, which the body means.
pub(super) fn hidden_parameter(
    name: &Ident,
    parameters: &[(Ident, bool)],
    faults: &mut Diagnostics,
) {
    if parameters.iter().any(|(parameter, _)| parameter == name) {
        let other = if name == "attempt" {
            "current"
        } else {
            "attempt"
        };
        faults.push(
            name.span(),
            RuleId::S9,
            format!("`context = {name}` would hide the parameter `{name}`; choose another name, such as `context = {other}`"),
        );
    }
}

/// One policy a function: the second attribute would retry the first.
fn second_attribute(function: &Function, faults: &mut Diagnostics) {
    for attribute in function
        .attributes
        .iter()
        .filter(|attribute| is_retry(attribute))
    {
        faults.push(
            attribute.path().span(),
            RuleId::S8,
            "a function can have only one `#[retry]`; put all keys into one attribute",
        );
    }
}

/// The body becomes a closure or a future, which knows nothing of the caller: `Location::caller()` in it would be a
/// place in the body.
fn track_caller(function: &Function, faults: &mut Diagnostics) {
    let tracks = |path: &syn::Path| path.is_ident("track_caller");
    for attribute in (function.attributes.iter()).filter(|attribute| tracks(attribute.path())) {
        faults.push(
            attribute.path().span(),
            RuleId::S3,
            "`#[track_caller]` has no effect on a retried function, whose body does not know its caller; drop it, or leave it on a function that passes `Location::caller()` to the retried one",
        );
    }
}

/// An answer without an error: nothing can be made of one, or asked about it.
fn without_error(args: &Args, function: &Function, answer: &Answer, faults: &mut Diagnostics) {
    let nothing = matches!(function.signature.output, ReturnType::Default);
    let what = match answer {
        Answer::Other(ty) | Answer::Option(ty) => format!("`{}`", text(ty)),
        Answer::Inferred if nothing => "a function that returns nothing".to_owned(),
        _ => return,
    };
    if let Some(map_err) = &args.map_err {
        faults.push(
            map_err.key,
            RuleId::X17,
            format!("`map_err` converts an error, but {what} has none; drop `map_err`, or return a `Result`"),
        );
    }
    if args.until.is_none() {
        return;
    }
    for (key, filter) in [("on", &args.on), ("except", &args.except)] {
        if let Some(filter) = filter {
            faults.push(
                filter.key,
                RuleId::X17,
                format!(
                    "`{key}` takes an error, and {what} has none; drop `{key}`, or return a `Result`"
                ),
            );
        }
    }
    let Some(asked) = &args.retry_after else {
        return;
    };
    faults.push(
        asked.key,
        RuleId::S9,
        format!(
            "`retry_after` reads the delay from an error, but {what} has none; drop `retry_after`, or return a `Result`"
        ),
    );
}

/// An answer that certainly cannot say that an attempt was cut off, or that there was none.
fn cut_off(
    args: &Args,
    function: &Function,
    answer: &Answer,
    flow: &Flow,
    faults: &mut Diagnostics,
) {
    if args.until.is_none() {
        return;
    }
    let nothing = matches!(function.signature.output, ReturnType::Default);
    let what = match answer {
        Answer::Other(ty) => format!("`{}`", text(ty)),
        Answer::Inferred if nothing => "a function that returns nothing".to_owned(),
        _ => return,
    };
    if !matches!(flow, Flow::Sync) {
        if let Some(timeout) = &args.timeout {
            faults.push(
                timeout.key,
                RuleId::S5,
                format!(
                    "`timeout` can end a call before it has an error to return, and {what} cannot report that; return `Result` or `Option`, or drop `timeout`"
                ),
            );
        }
        let cuts = args.cut_off.is_none();
        if let Some(deadline) = args.deadline.as_ref().filter(|_| cuts) {
            faults.push(
                deadline.key,
                RuleId::S5,
                format!(
                    "`deadline` can end a call before it has an error to return, and {what} cannot report that; return `Result` or `Option`, or write `cut_off = false`"
                ),
            );
        }
    }
    for (key, place) in limits::gates(args) {
        faults.push(
            place,
            RuleId::S5,
            format!(
                "`{key}` can refuse a call, and {what} cannot report that; return `Result` or `Option`, or drop `{key}`"
            ),
        );
    }
}

/// What needs a future: nothing can interrupt a blocked thread.
pub(super) fn blocking(args: &Args, subject: &Subject, faults: &mut Diagnostics) {
    let what = &subject.whole;
    if let Some(timeout) = &args.timeout {
        faults.push(
            timeout.key,
            RuleId::S2,
            format!(
                "`timeout` cannot interrupt a blocked thread, and {what} is sync; make it async, or write `deadline` and give the client a time-out of `deadline::remaining()`"
            ),
        );
    }
    if let Some(hedge) = &args.hedge {
        faults.push(
            hedge.key,
            RuleId::S2,
            format!(
                "`hedge` runs attempts at the same time, and {what} is sync; make it async, or drop `hedge`"
            ),
        );
    }
    sync_hooks(args, &subject.noun, faults);
}

/// A blocked thread cannot wait for a future.
fn sync_hooks(args: &Args, what: &str, faults: &mut Diagnostics) {
    for (key, entry, code) in [
        ("before_retry", RuleId::S9, &args.before_retry),
        ("fallback", RuleId::S9, &args.fallback),
        ("verify", RuleId::X13, &args.verify),
    ] {
        let closure = code.as_ref().and_then(|code| code.given.as_ref().ok());
        if let Some(span) = closure.and_then(async_closure) {
            faults.push(span, entry, format!("`{key}` cannot be async in a sync {what}; make the {what} async or the closure sync"));
        }
    }
}

/// The parameters that `clone(...)` names.
pub(super) fn cloned(
    names: Option<Names>,
    parameters: &[(Ident, bool)],
    function: &Function,
    faults: &mut Diagnostics,
) -> Vec<(Ident, bool)> {
    let mut cloned: Vec<(Ident, bool)> = Vec::new();
    let names = names.and_then(|names| super::keep(names.given, faults));
    for name in names.unwrap_or_default() {
        if cloned.iter().any(|(known, _)| *known == name) {
            faults.push(
                name.span(),
                RuleId::X17,
                format!("`{name}` stands here twice, and one copy is all that the body gets; drop one of them"),
            );
            continue;
        }
        match parameters.iter().find(|(parameter, _)| *parameter == name) {
            Some((_, mutable)) => cloned.push((name, *mutable)),
            None if function.in_block => faults.push(
                name.span(),
                RuleId::S7,
                format!(
                    "method `{}` has no parameter `{name}`; drop it here, and on the methods that have it write `clone({name})` in a `#[retry(...)]` with all keys, which replaces the policy of the block",
                    function.signature.ident
                ),
            ),
            None if parameters.is_empty() => faults.push(
                name.span(),
                RuleId::S7,
                format!("`{name}` is not a parameter of this function, which has none; drop it"),
            ),
            None => {
                let list: Vec<_> = parameters
                    .iter()
                    .map(|(parameter, _)| parameter.to_string())
                    .collect();
                let list: Vec<_> = list.iter().map(String::as_str).collect();
                faults.push(
                    name.span(),
                    RuleId::S7,
                    format!(
                        "`{name}` is not a parameter of this function; its parameters are {}",
                        crate::keys::listed(&list)
                    ),
                );
            }
        }
    }
    cloned
}
