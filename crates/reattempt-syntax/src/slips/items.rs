//! Items of an attribute that are no keys, where the parser would only miss a comma: a number beside a word, a key in quotes,
//! keys in brackets.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use reattempt_policy::rules::{Key, Kind, RuleId};
use reattempt_policy::written::Word;
use std::time::Duration;
use syn::{Lit, LitStr};

use super::{has_keys, is_sign, value_alone};
use crate::diagnostics::{Diagnostic, Place};
use crate::keys;
use crate::tokens::written;

/// What is wrong with the first item that no parser of keys can read, where it is known.
pub fn unreadable(tokens: &TokenStream) -> Option<Diagnostic> {
    let all: Vec<_> = tokens.clone().into_iter().collect();
    all.split(|token| is_sign(token, ',')).find_map(item)
}

fn item(tokens: &[TokenTree]) -> Option<Diagnostic> {
    let (rule, text) = match tokens {
        _ if has_keys_apart(tokens) => {
            let items = tokens.split(|token| is_sign(token, ';'));
            let said = |item: &[TokenTree]| written(&item.iter().cloned().collect());
            let items: Vec<_> = items.map(said).filter(|item| !item.is_empty()).collect();
            let text = format!("keys are separated by `,`; write `{}`", items.join(", "));
            (RuleId::Syntax, text)
        }
        [TokenTree::Ident(key), sign, TokenTree::Group(_)]
            if key == "codes" && is_sign(sign, '=') =>
        {
            let text = format!(
                "`codes` takes {}",
                <reattempt_policy::Codes as Word>::EXAMPLE
            );
            (RuleId::Type, text)
        }
        // A variable has a type behind it, and a key has none.
        [
            TokenTree::Ident(key),
            sign,
            TokenTree::Ident(name),
            colon,
            ty,
            ..,
        ] if is_sign(sign, '=') && is_sign(colon, ':') && !is_sign(ty, ':') => {
            let text = format!("one value stands behind a key; write `{key} = {name}`");
            (RuleId::Syntax, text)
        }
        [TokenTree::Group(group)] => return brackets(group),
        [TokenTree::Literal(number), TokenTree::Ident(word)] => {
            let (number, word) = (number.to_string(), word.to_string());
            match duration(&number, &word) {
                Some(duration) => (RuleId::Syntax, value_alone(&duration)),
                None => counted(&word, &number)?,
            }
        }
        [TokenTree::Ident(word), TokenTree::Literal(number)] => {
            counted(&word.to_string(), &number.to_string())?
        }
        [
            TokenTree::Ident(key),
            sign,
            TokenTree::Literal(number),
            TokenTree::Ident(unit),
        ] if is_sign(sign, '=') => {
            let (key, number) = (key.to_string(), number.to_string());
            let kind = Key::from_name(&key)?.kind();
            let value = match duration(&number, &unit.to_string()) {
                Some(duration) if kind == Kind::Time => duration.to_token_stream().to_string(),
                _ if keys::meant(&unit.to_string()) == Some(&*key) => number,
                _ => return None,
            };
            let text = format!("one value stands behind a key; write `{key} = {value}`");
            (RuleId::Syntax, text)
        }
        [TokenTree::Literal(quoted), sign, value @ ..] if is_sign(sign, '=') => {
            let key = syn::parse_str::<LitStr>(&quoted.to_string()).ok()?.value();
            let value = written(&value.iter().cloned().collect());
            keys::meant(&key)?;
            let text = format!("keys stand without quotes; write `{key} = {value}`");
            (RuleId::Syntax, text)
        }
        _ => return None,
    };
    let place: TokenStream = tokens.iter().cloned().collect();
    Some(Diagnostic::new(Place::of(&place), rule, text))
}

/// `max = 3; base = "1s"`: nothing but keys, with `;` between them.
fn has_keys_apart(tokens: &[TokenTree]) -> bool {
    let mut items = tokens.split(|token| is_sign(token, ';'));
    let is_key = |word: &TokenTree| keys::meant(&word.to_string()).is_some();
    items.clone().count() > 1 && items.all(|item| item.first().is_none_or(is_key))
}

/// What is wrong with keys in brackets of their own: `{ max = 3 }`, `{ max: 3 }`, `{ "max": 3 }`.
pub fn brackets(group: &Group) -> Option<Diagnostic> {
    let inside = if has_keys(&group.stream()) {
        written(&group.stream())
    } else {
        let all: Vec<_> = group.stream().into_iter().collect();
        let items = all.split(|token| is_sign(token, ','));
        let keys: Vec<_> = items
            .filter(|item| !item.is_empty())
            .map(pair)
            .collect::<Option<_>>()?;
        keys.join(", ")
    };
    let brackets = match group.delimiter() {
        Delimiter::Brace => "braces",
        Delimiter::Bracket => "brackets",
        _ => "parentheses",
    };
    let text = format!("the keys stand without {brackets}; write `{inside}`");
    Some(Diagnostic::new(
        Place::of(&group.to_token_stream()),
        RuleId::Syntax,
        text,
    ))
}

/// `max = 3` of `max: 3` and `"max": 3`.
fn pair(item: &[TokenTree]) -> Option<String> {
    let [key, colon, value @ ..] = item else {
        return None;
    };
    let key = key.to_string();
    let key = key.trim_matches('"');
    keys::meant(key)?;
    let value = written(&value.iter().cloned().collect());
    is_sign(colon, ':').then(|| format!("{key} = {value}"))
}

/// `times 5`, `5 times`: a key, here or elsewhere, without its sign.
fn counted(word: &str, number: &str) -> Option<(RuleId, String)> {
    let key = keys::meant(word)?;
    Some(if key == word {
        let text = format!("a key is followed by `=`; write `{key} = {number}`");
        (RuleId::Syntax, text)
    } else {
        (RuleId::R15, keys::unknown(word, Some(number), &[]))
    })
}

/// `100 ms`: the text that is meant.
fn duration(number: &str, unit: &str) -> Option<Lit> {
    let text = format!("{number}{unit}");
    <Duration as Word>::from_text(&text)?.ok()?;
    Some(Lit::Str(LitStr::new(&text, Span::call_site())))
}
