//! What to write in place of words that are no verdict, and of delays that are no field.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use retry_runtime::duration;
use syn::{Expr, ExprLit, Lit, Meta, Path};

use reattempt_syntax::keys;
use reattempt_syntax::tokens::written;

use super::verdict::{ALL_WORDS, WORDS, Word};

pub(super) const NO_TYPES: &str =
    "`chain` names the types of the errors to look for; write `#[retry(chain(std::io::Error))]`";

const NO_FUNCTION: &str =
    "`with` is a function of the fields that gives the verdict; write `#[retry(with = function)]`";

/// What others call a verdict, and its name here.
const FOREIGN: &[(&str, &str)] = &[
    ("retryable", "transient"),
    ("retry", "transient"),
    ("temporary", "transient"),
    ("never", "permanent"),
    ("not_retryable", "permanent"),
    ("non_retryable", "permanent"),
    ("fatal", "permanent"),
    ("abort", "permanent"),
    ("rate_limited", "throttled"),
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

/// What to say of something that is no verdict.
pub(super) fn unknown(meta: &Meta) -> String {
    let path = meta.path();
    if let Some(word) = variant(path) {
        return format!("a verdict is one word here; write `#[retry({word})]`");
    }
    let word = written(&path.to_token_stream());
    match &*word {
        "chain" => return NO_TYPES.to_owned(),
        "with" => return NO_FUNCTION.to_owned(),
        _ => {}
    }
    if WORDS.contains(&&*word) {
        return format!("`{word}` takes no value; write `#[retry({word})]`");
    }
    if let Some((_, ours)) = FOREIGN.iter().find(|(theirs, _)| *theirs == word) {
        return format!("unknown verdict `{word}`; it is called `{ours}` here");
    }
    match keys::nearest(&word, ALL_WORDS) {
        Some(near) => format!("unknown verdict `{word}`; did you mean `{near}`?"),
        None => format!(
            "unknown verdict `{word}`; the verdicts are {}",
            keys::listed(ALL_WORDS)
        ),
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
            with(word, &delay)
        ),
        None => format!(
            "a delay that is always the same is a `Duration`, as in `{}`",
            with(word, "std::time::Duration::from_secs(5)")
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
fn with(word: &Word, delay: &str) -> String {
    let verdict = match word {
        Word::Transient => format!("TransientAfter({delay})"),
        _ => format!("Throttled(Some({delay}))"),
    };
    format!("#[retry(with = || reattempt::Verdict::{verdict})]")
}

/// An attribute as it is written.
pub(super) fn attribute(tokens: &TokenStream) -> String {
    format!("#[{}]", written(tokens))
}
