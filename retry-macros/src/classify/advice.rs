//! What to write in place of words that are no verdict, and of delays that are no field.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use reattempt_policy::duration;
use syn::{Expr, ExprLit, Fields, Lit, Member, Meta, Path};

use reattempt_syntax::keys;
use reattempt_syntax::tokens::written;

use super::functions;
use super::words::{ALL_WORDS, Said, WORDS, Word};

pub(super) const NO_TYPES: &str =
    "`chain` names the types of the errors to look for; write `#[retry(chain(std::io::Error))]`";

const NO_FUNCTION: &str =
    "`with` is a function of the fields that gives the verdict; write `#[retry(with = function)]`";

/// What others call a verdict, and its name here; without `_` and in lower case.
const FOREIGN: &[(&str, &str)] = &[
    ("retryable", "transient"),
    ("retriable", "transient"),
    ("retry", "transient"),
    ("retried", "transient"),
    ("canretry", "transient"),
    ("shouldretry", "transient"),
    ("tryagain", "transient"),
    ("again", "transient"),
    ("always", "transient"),
    ("temporary", "transient"),
    ("recoverable", "transient"),
    ("intermittent", "transient"),
    ("never", "permanent"),
    ("neverretry", "permanent"),
    ("noretry", "permanent"),
    ("notretry", "permanent"),
    ("dontretry", "permanent"),
    ("donotretry", "permanent"),
    ("notretryable", "permanent"),
    ("notretriable", "permanent"),
    ("nonretryable", "permanent"),
    ("nonretriable", "permanent"),
    ("unretryable", "permanent"),
    ("nottransient", "permanent"),
    ("nontransient", "permanent"),
    ("unrecoverable", "permanent"),
    ("nonrecoverable", "permanent"),
    ("fatal", "permanent"),
    ("terminal", "permanent"),
    ("abort", "permanent"),
    ("stop", "permanent"),
    ("fail", "permanent"),
    ("giveup", "permanent"),
    ("ignore", "permanent"),
    ("skip", "permanent"),
    ("ratelimited", "throttled"),
    ("ratelimit", "throttled"),
    ("throttle", "throttled"),
    ("throttling", "throttled"),
    ("toomanyrequests", "throttled"),
    ("slowdown", "throttled"),
    ("overloaded", "throttled"),
    ("notsent", "refused"),
    ("notreached", "refused"),
    ("rejected", "refused"),
    ("transparent", "inherit"),
    ("forward", "inherit"),
    ("delegate", "inherit"),
    ("source", "inherit"),
    ("inner", "inherit"),
];

/// What others call a delay, and the verdict that is meant where none stands beside it.
const DELAYS: &[(&str, &str)] = &[
    ("delay", "transient"),
    ("wait", "transient"),
    ("backoff", "transient"),
    ("retryafter", "transient"),
    ("retryin", "transient"),
    ("transientafter", "transient"),
    ("throttledafter", "throttled"),
    ("throttledfor", "throttled"),
    ("refusedafter", "refused"),
];

/// What others call the function that gives the verdict.
const FUNCTIONS: &[&str] = &[
    "when",
    "retryif",
    "retrywhen",
    "condition",
    "predicate",
    "function",
    "classify",
    "by",
];

/// The variants of `Verdict`, and their words.
const VARIANTS: &[(&str, &str)] = &[
    ("Transient", "transient"),
    ("TransientAfter", "transient"),
    ("Permanent", "permanent"),
    ("Throttled", "throttled"),
    ("Refused", "refused"),
    ("RetryForbidden", "forbidden"),
];

/// What to say of something that is no verdict of a variant with these fields; `alone`: no verdict stands beside it.
pub(super) fn unknown(meta: &Meta, fields: &Fields, alone: bool) -> String {
    let path = meta.path();
    let value = value(meta);
    if let Some(word) = variant(path) {
        let fix = (value
            .as_ref()
            .and_then(|value| delayed(word, value, fields)))
        .unwrap_or_else(|| format!("#[retry({word})]"));
        return format!("a verdict is one word here; write `{fix}`");
    }
    let word = written(&path.to_token_stream());
    match &*word {
        "chain" => return NO_TYPES.to_owned(),
        "with" => {
            let function = value.map(|it| unquoted(&it));
            return match function {
                Some(function) => format!(
                    "`with` takes its function behind `=`; write `#[retry(with = {function})]`"
                ),
                None => NO_FUNCTION.to_owned(),
            };
        }
        "default" => return on_variant(value.as_ref()),
        "after" => {
            let field = value.and_then(|value| field_in(&value, fields));
            let field = field.unwrap_or_else(|| "field".to_owned());
            return format!("`after` takes a field behind `=`; write `after = {field}`");
        }
        "verdict" => {
            let word = value.and_then(|value| word_in(&written(&value.to_token_stream())));
            return match word {
                Some(word) => format!("a verdict is one word here; write `#[retry({word})]`"),
                None => no_verdict(),
            };
        }
        _ => {}
    }
    if WORDS.contains(&&*word) {
        if let Some(fix) = value.and_then(|value| delayed(&word, &value, fields)) {
            return format!("the delay of a verdict is `after`; write `{fix}`");
        }
        return format!("`{word}` takes no value; write `#[retry({word})]`");
    }
    if let Some(said) = foreign(&word, value.as_ref(), fields, alone) {
        return said;
    }
    let named = [ALL_WORDS, &["default", "after"]].concat();
    match keys::nearest(&word, &named) {
        Some(near) => format!("unknown verdict `{word}`; did you mean `{near}`?"),
        None if keys::KEYS.contains(&&*word) => format!(
            "`{word}` is a key of `#[retry]` above a function, and here stands a verdict; the verdicts are {}",
            keys::listed(ALL_WORDS)
        ),
        None => format!(
            "unknown verdict `{word}`; the verdicts are {}",
            keys::listed(ALL_WORDS)
        ),
    }
}

/// What to say of a word that other libraries have.
fn foreign(word: &str, value: Option<&Expr>, fields: &Fields, alone: bool) -> Option<String> {
    let plain = plain(word);
    if let Some(ours) = called_here(word) {
        return Some(format!(
            "unknown verdict `{word}`; it is called `{ours}` here"
        ));
    }
    if let Some((_, verdict)) = DELAYS.iter().find(|(theirs, _)| *theirs == plain) {
        let field = value.and_then(|value| field_in(value, fields));
        if !alone {
            let field = field.unwrap_or_else(|| "field".to_owned());
            return Some(format!(
                "a delay is called `after` here; write `after = {field}`"
            ));
        }
        let fix = (value.and_then(|value| delayed(verdict, value, fields)))
            .unwrap_or_else(|| format!("#[retry({verdict}, after = field)]"));
        return Some(format!("a delay stands beside its verdict; write `{fix}`"));
    }
    if FUNCTIONS.contains(&&*plain) {
        let function = match value {
            Some(value @ (Expr::Path(_) | Expr::Closure(_) | Expr::Lit(_))) => unquoted(value),
            Some(value) => functions::of_fields(value, fields)?,
            None => return None,
        };
        return Some(format!(
            "unknown verdict `{word}`; it is called `with` here, write `#[retry(with = {function})]`"
        ));
    }
    None
}

/// What a verdict of another library is called here.
pub(super) fn called_here(word: &str) -> Option<&'static str> {
    let plain = plain(word);
    let found = FOREIGN.iter().find(|(theirs, _)| *theirs == plain);
    found.map(|(_, ours)| *ours)
}

/// `noretry` of `no_retry`, `NoRetry` and `no-retry`.
fn plain(word: &str) -> String {
    let letters = word.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// What to say of code where a verdict belongs: `code >= 500`, `chain![io::Error]`, `!transient`.
pub(super) fn code(value: &Expr, fields: &Fields) -> String {
    let mut said = written(&value.to_token_stream());
    let fix = match value {
        Expr::Macro(mac)
            if mac
                .mac
                .path
                .segments
                .last()
                .is_some_and(|it| it.ident == "chain") =>
        {
            let types = written(&mac.mac.tokens);
            return format!(
                "`chain` is a verdict here, and no macro; write `#[retry(chain({types}))]`"
            );
        }
        Expr::Unary(not) if matches!(not.op, syn::UnOp::Not(_)) => {
            said = said.replace("! ", "!");
            match said.trim_start_matches('!') {
                "transient" | "retry" | "retryable" => Some("permanent"),
                "permanent" | "fatal" => Some("transient"),
                _ => None,
            }
        }
        // `no-retry`.
        Expr::Binary(_) => {
            said = said.replace(" - ", "-");
            called_here(&said)
        }
        // `transient if 500..`
        Expr::Range(_) if fields.len() == 1 => {
            let said = said.replace(" ..", "..").replace(".. ", "..");
            return format!(
                "a verdict may come from a function; write `#[retry(with = |value| ({said}).contains(value))]`"
            );
        }
        _ => None,
    };
    if let Some(word) = fix {
        return format!("`{said}` is no verdict; it is called `{word}` here");
    }
    match functions::of_fields(value, fields) {
        Some(closure) => {
            format!("a verdict may come from a function; write `#[retry(with = {closure})]`")
        }
        None => no_verdict(),
    }
}

/// What to say of a literal where a verdict belongs.
pub(super) fn literal(value: &Lit) -> String {
    match value {
        Lit::Bool(yes) => {
            let word = if yes.value { "transient" } else { "permanent" };
            format!("`{}` is no verdict; it is called `{word}` here", yes.value)
        }
        Lit::Str(text) => match word_in(&text.value()) {
            Some(word) => format!("a verdict has no quotes; write `#[retry({word})]`"),
            None => no_verdict(),
        },
        _ => no_verdict(),
    }
}

/// What to say of what is no word at all.
pub(super) fn no_verdict() -> String {
    format!(
        "a verdict is a word; the verdicts are {}",
        keys::listed(ALL_WORDS)
    )
}

/// What to say of `#[retry]` and `#[retry = "transient"]`, above a type with variants or elsewhere.
pub(super) fn missing(meta: &Meta, is_enum: bool) -> String {
    let said = match value(meta) {
        Some(Expr::Lit(literal)) => match &literal.lit {
            Lit::Str(text) => word_in(&text.value()),
            Lit::Bool(yes) if yes.value => Some("transient"),
            Lit::Bool(_) => Some("permanent"),
            _ => None,
        },
        Some(value) => word_in(&written(&value.to_token_stream())),
        None => None,
    };
    match (said, is_enum) {
        (Some(word), false) => format!("a verdict stands in parentheses; write `#[retry({word})]`"),
        (Some(word), true) => {
            format!(
                "a verdict stands in parentheses; write `#[retry(default = {word})]` for all variants without one"
            )
        }
        (None, false) => {
            "a verdict is missing; write `#[retry(transient)]` or another one".to_owned()
        }
        (None, true) => {
            "a verdict is missing; write `#[retry(default = permanent)]` or another one".to_owned()
        }
    }
}

/// What to say of a verdict above an enum.
pub(super) fn above_variants(said: &Said) -> String {
    match said.word.as_default() {
        Some(word) if said.after.is_none() => format!(
            "a verdict belongs on a variant; write `#[retry(default = {word})]` for all variants without one"
        ),
        _ => "a verdict that asks the fields belongs on a variant; move it there".to_owned(),
    }
}

/// What to say of `default = value`.
pub(super) fn no_default(value: &Expr) -> String {
    let said = match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => {
                if let Some(word) = word_in(&text.value()) {
                    return format!("a verdict has no quotes; write `default = {word}`");
                }
                text.value()
            }
            Lit::Bool(yes) => {
                let word = if yes.value { "transient" } else { "permanent" };
                return format!("`default` takes a verdict; write `default = {word}`");
            }
            _ => String::new(),
        },
        value => written(&value.to_token_stream()),
    };
    let path = match value {
        Expr::Call(call) => &*call.func,
        value => value,
    };
    if let Expr::Path(path) = path
        && let Some(word) = variant(&path.path)
    {
        return format!("a verdict is one word here; write `default = {word}`");
    }
    if let Some(word) = called_here(&said) {
        return format!("unknown verdict `{said}`; it is called `{word}` here");
    }
    match keys::nearest(&said, WORDS) {
        Some(near) => format!("unknown verdict `{said}`; did you mean `{near}`?"),
        None => format!(
            "`default` is a verdict that fits every variant; the verdicts are {}",
            keys::listed(WORDS)
        ),
    }
}

/// `default = transient` above a variant.
fn on_variant(value: Option<&Expr>) -> String {
    let word = value.and_then(|value| word_in(&unquoted(value)));
    let word = word.unwrap_or("transient");
    format!(
        "`default` stands above the type; the verdict of a variant is a word alone, write `#[retry({word})]`"
    )
}

/// The verdict that a text names, be it in another spelling.
fn word_in(text: &str) -> Option<&'static str> {
    let known = WORDS.iter().find(|word| **word == text).copied();
    let path = || variant(&syn::parse_str::<Path>(text).ok()?);
    known.or_else(path).or_else(|| called_here(text))
}

/// What is written behind a word: in parentheses, or behind `=`.
fn value(meta: &Meta) -> Option<Expr> {
    match meta {
        Meta::Path(_) => None,
        Meta::List(list) => syn::parse2(list.tokens.clone()).ok(),
        Meta::NameValue(pair) => Some(pair.value.clone()),
    }
}

/// A value without its quotes.
fn unquoted(value: &Expr) -> String {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => text.value(),
        value => written(&value.to_token_stream()),
    }
}

/// The attribute of a verdict with the delay that stands behind its word: `throttled(wait)`, `Throttled(Some(wait))`.
fn delayed(word: &str, value: &Expr, fields: &Fields) -> Option<String> {
    if !matches!(word, "transient" | "throttled" | "refused") {
        return None;
    }
    if let Some(field) = field_in(value, fields) {
        return Some(format!("#[retry({word}, after = {field})]"));
    }
    let delay = match within(value) {
        Expr::Lit(literal) => of_literal(literal)?,
        Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.segments.len() > 1) => {
            written(&call.to_token_stream())
        }
        _ => return None,
    };
    Some(with(word, &delay))
}

/// The field that a delay names.
fn field_in(value: &Expr, fields: &Fields) -> Option<String> {
    let said = unquoted(within(value));
    let mut names = fields.members().map(|member| match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    });
    names.find(|name| *name == said)
}

/// `wait` of `Some(*wait)` and of `after = wait`.
fn within(value: &Expr) -> &Expr {
    match value {
        Expr::Assign(assign) => within(&assign.right),
        Expr::Reference(reference) => within(&reference.expr),
        Expr::Unary(unary) => within(&unary.expr),
        Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Some")) => {
            call.args.first().map_or(value, within)
        }
        _ => value,
    }
}

/// The word of `Verdict::Transient`, or of `Transient`.
fn variant(path: &Path) -> Option<&'static str> {
    let last = &path.segments.last()?.ident;
    let found = VARIANTS.iter().find(|(name, _)| last == name);
    found.map(|(_, word)| *word)
}

/// What to say of `after = value`, which names no field of the variant.
pub(super) fn fixed_delay(word: &Word, value: &Expr) -> String {
    let delay = match value {
        Expr::Lit(literal) => of_literal(literal),
        value => Some(written(&value.to_token_stream())),
    };
    match delay {
        Some(delay) => format!(
            "for a delay that is always the same write `{}`",
            with(word.with_delay(), &delay)
        ),
        None => format!(
            "a delay that is always the same is a `Duration`, as in `{}`",
            with(word.with_delay(), "std::time::Duration::from_secs(5)")
        ),
    }
}

/// `"5s"` as code.
fn of_literal(literal: &ExprLit) -> Option<String> {
    let Lit::Str(text) = &literal.lit else {
        return None;
    };
    let delay = duration::parse(&text.value()).ok()?;
    let code = match delay.subsec_nanos() {
        0 => format!("from_secs({})", delay.as_secs()),
        nanos if nanos.is_multiple_of(1_000_000) => format!("from_millis({})", delay.as_millis()),
        _ => format!("from_nanos({})", delay.as_nanos()),
    };
    Some(format!("std::time::Duration::{code}"))
}

/// The attribute of this verdict with this delay.
fn with(word: &str, delay: &str) -> String {
    let verdict = match word {
        "transient" => format!("TransientAfter({delay})"),
        _ => format!("Throttled(Some({delay}))"),
    };
    format!("#[retry(with = || reattempt::Verdict::{verdict})]")
}

/// What to say of `inherit` and `chain(...)` on a variant that does not wrap one error.
pub(super) fn not_wrapped(word: &Word, fields: &Fields) -> String {
    let name = word.name();
    match (fields.len(), word) {
        (0, _) => format!(
            "`{name}` takes the verdict of the wrapped error, and there are 0 fields; write the verdict, such as `#[retry(transient)]`"
        ),
        (count, Word::Chain(_)) => format!(
            "`{name}` takes the verdict of the wrapped error, and there are {count} fields; call that field `source`, or implement `Classify` by hand"
        ),
        (count, _) => format!(
            "`{name}` takes the verdict of the wrapped error, and there are {count} fields; write the verdict of one, as in `{}`",
            functions::of_one(functions::error_in(fields), fields)
        ),
    }
}

/// What to say of `#[classify(transient)]`, and of `#[transient]`.
pub(super) fn renamed(meta: &Meta) -> String {
    let inside = match meta {
        Meta::List(list) => Some(written(&list.tokens)),
        _ => None,
    };
    let verdict = meta.path().get_ident().map(ToString::to_string);
    let verdict = verdict.filter(|word| WORDS.contains(&&**word));
    let said = match (verdict, inside) {
        (Some(verdict), Some(inside)) => format!("{verdict}, {inside}"),
        (Some(said), None) | (None, Some(said)) => said,
        (None, None) => "transient".to_owned(),
    };
    format!("the attribute of `Classify` is `retry`; write `#[retry({said})]`")
}

/// An attribute as it is written.
pub(super) fn attribute(tokens: &TokenStream) -> String {
    format!("#[{}]", written(tokens))
}
