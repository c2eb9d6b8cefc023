//! `max = 5, jitter = 0.2`, with or without `#[retry(...)]` around it -> the policy, by the parser and the checks of
//! the macros.

use std::ops::Range;
use std::path::Path;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use reattempt_policy::written::Share;
use reattempt_syntax::args::{self, Args, Code, Given as Value};
use reattempt_syntax::check;
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::keys::KEYS;
use reattempt_syntax::methods::is_never;
use reattempt_syntax::model::{Hedging, Model};
use retry_runtime::Policy;
use retry_runtime::rules::Key;
use syn::spanned::Spanned as _;

use super::{Broken, Given, rule};
use crate::code::nested::is_deep;

/// What a text says, and all that is wrong with it.
pub(crate) fn from_text(text: &str) -> Given {
    if let Some(message) = lone_name(text) {
        return unreadable(text, message, Some(0..text.len()));
    }
    if let Some(message) = beyond_reading(text) {
        // Not even to be shown.
        let text: String = text.chars().take(SHOWN).collect();
        return unreadable(&text, message, None);
    }
    let tokens = match text.parse::<TokenStream>() {
        Ok(tokens) => inside(tokens),
        Err(fault) => {
            let message =
                format!("{fault}; write keys and values, such as `max = 5, jitter = 0.2`");
            return unreadable(text, message, place(fault.span(), text));
        }
    };
    if is_never(&tokens) {
        let mut given = Given::known(text, Policy::new().max(1));
        let note = "`never` takes a function out of every policy: it is called once";
        given.notes.push(note.to_owned());
        return given;
    }
    let mut faults = Diagnostics::default();
    let mut args = args::parse(tokens, &mut faults);
    // It names parameters, and here is no function.
    args.clone = None;
    let share = match args.budget.as_ref().map(|budget| &budget.given) {
        Some(&Value::Literal(Share::Of(share), _)) => Some(share),
        _ => None,
    };
    let beside = beside(&args);
    let asked = asked(&args, text);
    let operation = args.operation().map(ToOwned::to_owned);
    let model = check::block(args, true, None, &mut faults);
    let mut unknown = asked;
    unknown.extend(expressions(&model, text));
    let mut is_read = true;
    let broken = faults.as_slice().iter().map(|fault| {
        let message = fault.message().to_owned();
        let rule = fault.rule().as_str();
        // What is wrong by itself, or has no end, has no schedule that would mean anything.
        let is_drawn = !rule.starts_with('R') && rule != "X6";
        is_read &= is_drawn && rule::is_of_policy(&message, &model);
        Broken {
            rule: rule.to_owned(),
            message,
            place: place(fault.span(), text),
        }
    });
    let mut broken: Vec<_> = broken.collect();
    // In the order of the text; what is about all of it last.
    broken.sort_by_key(|it| it.place.as_ref().map_or(usize::MAX, |place| place.start));
    Given {
        text: text.to_owned(),
        policy: Policy::of(model.known),
        unknown,
        share,
        copies: model.hedge.as_ref().map_or(Some(1), Hedging::most),
        beside,
        notes: Vec::new(),
        named: model.named.map(|name| name.value()),
        operation,
        is_read,
        broken,
    }
}

/// Characters of a policy, and brackets in each other: more than anybody writes.
const LONGEST: usize = 10_000;
const DEEPEST: usize = 100;

/// Characters of a text that is longer.
const SHOWN: usize = 60;

/// What to say about a text that is no policy, whatever it says.
fn beyond_reading(text: &str) -> Option<String> {
    let length = text.chars().count();
    if length > LONGEST {
        return Some(format!(
            "this is {length} characters long, and a policy has at most {LONGEST}; write its keys alone"
        ));
    }
    is_deep(text, DEEPEST).then(|| {
        format!("its code is nested more than {DEEPEST} levels deep; give the value a name, `const VALUE: ... = ...;`, and write `VALUE`")
    })
}

/// Whether a lone word is one of a policy.
pub(crate) fn is_word(text: &str) -> bool {
    KEYS.contains(&text) || ["never", "retry"].contains(&text)
}

/// What to say about a name where keys belong.
fn lone_name(text: &str) -> Option<String> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if text.is_empty() || is_word(text) || !text.chars().all(is_name) {
        return None;
    }
    Some(
        if Path::new(text).extension().is_some_and(|it| it == "toml") {
            format!(
                "this is the name of a file; write `cargo retry check {text}`, or `--config {text}` and the name of a policy in it"
            )
        } else {
            format!(
                "`{text}` is not a key; a policy of a file is `--config retry.toml {text}`, and keys are written `max = 5, jitter = 0.2`"
            )
        },
    )
}

/// What stands within `#[retry(...)]`, if that is around it.
fn inside(tokens: TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let path = match trees.as_slice() {
        [TokenTree::Punct(hash), TokenTree::Group(group)]
            if hash.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
        {
            group.stream().into_iter().collect()
        }
        _ => trees,
    };
    let is_retry = |tree: &TokenTree| matches!(tree, TokenTree::Ident(ident) if ident == "retry");
    match path.as_slice() {
        [before @ .., last, TokenTree::Group(group)]
            if is_retry(last) && is_path(before) && group.delimiter() == Delimiter::Parenthesis =>
        {
            group.stream()
        }
        [before @ .., last] if is_retry(last) && is_path(before) => TokenStream::new(),
        _ => tokens,
    }
}

/// Whether nothing but `reattempt::` stands here.
fn is_path(trees: &[TokenTree]) -> bool {
    trees.iter().all(|tree| match tree {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => punct.as_char() == ':',
        _ => false,
    })
}

fn unreadable(text: &str, message: String, place: Option<Range<usize>>) -> Given {
    let mut given = Given::known(text, Policy::new());
    given.is_read = false;
    given.broken.push(Broken {
        rule: "syntax".to_owned(),
        message,
        place,
    });
    given
}

/// The bytes of a span; none of one that is nowhere.
fn place(span: Span, text: &str) -> Option<Range<usize>> {
    let bytes = span.byte_range();
    let is_inside = text.get(bytes.clone()).is_some();
    (is_inside && !bytes.is_empty()).then_some(bytes)
}

fn written(span: Span, text: &str) -> Option<String> {
    let piece = text.get(place(span, text)?)?;
    Some(piece.to_owned())
}

/// Keys whose whole effect is somebody else's.
fn asked(args: &Args, text: &str) -> Vec<(String, String)> {
    let keys = [("policy", &args.policy), ("strategy", &args.strategy)];
    let given = keys.into_iter().filter_map(|(key, code)| {
        let expression = code.as_ref()?.given.as_ref().ok()?;
        let written = written(expression.span(), text);
        let written = written.unwrap_or_else(|| expression.to_token_stream().to_string());
        Some((key.to_owned(), written))
    });
    given.collect()
}

fn expressions(model: &Model, text: &str) -> Vec<(String, String)> {
    let settings = model.settings.iter();
    let unknown = settings.filter_map(|setting| {
        let written = written(setting.expression?, text);
        let written = written.unwrap_or_else(|| setting.value.to_string());
        Some((setting.key.as_str().to_owned(), written))
    });
    let timeout = model.timeout_by.iter().map(|closure| {
        let written = written(closure.span(), text);
        let written = written.unwrap_or_else(|| closure.to_token_stream().to_string());
        (Key::Timeout.as_str().to_owned(), written)
    });
    unknown.chain(timeout).collect()
}

fn beside(args: &Args) -> Vec<&'static str> {
    let code = |code: &Option<Code>| code.is_some();
    let keys = [
        ("breaker", code(&args.breaker)),
        ("bulkhead", code(&args.bulkhead)),
        ("throttle", code(&args.throttle)),
        ("hedge", args.hedge.is_some()),
        ("retry_after", code(&args.retry_after)),
    ];
    keys.into_iter()
        .filter_map(|(key, given)| given.then_some(key))
        .collect()
}
