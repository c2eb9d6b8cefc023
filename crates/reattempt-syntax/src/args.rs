//! Tokens -> [`Args`]: every key with its value and both their spans. What is
//! wrong with a single value is kept beside it; nothing is judged here.

use std::time::Duration;

use darling::FromMeta;
use darling::ast::NestedMeta;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens as _;
use reattempt_policy::KeyValue;
use reattempt_policy::rules::{Key, RuleId};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Expr, Ident, Meta, Pat, Path, Token};

use crate::diagnostics::{Diagnostic, Diagnostics, Place};
use crate::keys;
use crate::literal::{self, Copies, Literal, Name, quoted};
use crate::slips;
use crate::tokens::{is_camel_case, names_errors, test_of_kind, written};

/// The types of the values of each kind of key.
mod kinds {
    pub(super) use crate::literal::{Attempts, Share as Budget};
    pub(super) use reattempt_policy::{Backoff, Codes, Jitter, Nested, Priority, Telemetry};
    pub(super) use std::time::Duration as Time;

    pub(super) type Factor = f64;
    pub(super) type Flag = bool;
}

macro_rules! list {
    ($($key:ident $name:ident $kind:ident $default:literal $meaning:literal;)*) => {
        /// The arguments of one attribute or block, as written.
        #[expect(
            missing_docs,
            reason = "each key has its heading in the documentation of `#[retry]`"
        )]
        #[derive(Default, FromMeta)]
        #[darling(default)]
        pub struct Args {
            $(pub $name: Option<Value<kinds::$kind>>,)*
            pub breaker: Option<Code>,
            pub bulkhead: Option<Code>,
            pub throttle: Option<Code>,
            pub hedge: Option<Value<Copies>>,
            pub verify: Option<Code>,
            pub on: Option<Filter>,
            pub except: Option<Filter>,
            pub until: Option<Code>,
            pub retry_after: Option<Code>,
            pub fallback: Option<Code>,
            pub map_err: Option<Code>,
            pub history: Option<Value<bool>>,
            pub cut_off: Option<Value<bool>>,
            pub before_retry: Option<Code>,
            pub on_retry: Option<Code>,
            pub context: Option<Binding>,
            pub clone: Option<Names>,
            pub name: Option<Value<Name>>,
            pub detail: Option<Code>,
            pub doc: Option<Value<bool>>,
            pub policy: Option<Code>,
            pub strategy: Option<Code>,
            pub timer: Option<Code>,
            #[darling(rename = "crate")]
            pub krate: Option<CratePath>,
        }

        impl Args {
            /// Takes each value that a policy keeps; a budget is the call's.
            pub(crate) fn take_policy(&mut self, mut taker: impl TakeValue) {
                $(take!(self, taker, $key $name $kind);)*
            }

            /// Takes the value of `key`, and returns where the key stands.
            pub(crate) fn take_key(&mut self, key: Key) -> Option<Span> {
                match key {
                    $(Key::$key => self.$name.take().map(|value| value.key),)*
                    _ => None,
                }
            }

            /// Returns the value of `key`, where it is an expression.
            pub(crate) fn expression(&self, key: Key) -> Option<&Expr> {
                match key {
                    $(Key::$key => self.$name.as_ref()?.expression(),)*
                    _ => None,
                }
            }
        }
    };
}

macro_rules! take {
    ($args:ident, $taker:ident, $key:ident $name:ident Budget) => {};
    ($args:ident, $taker:ident, $key:ident $name:ident Attempts) => {
        $taker.take(Key::$key, $args.$name.take(), |value| {
            KeyValue::Attempts(value.0)
        });
    };
    ($args:ident, $taker:ident, $key:ident $name:ident $kind:ident) => {
        $taker.take(Key::$key, $args.$name.take(), |value| {
            KeyValue::$kind(*value)
        });
    };
}

reattempt_policy::keys!(list);

/// What becomes of the values of a policy.
pub(crate) trait TakeValue {
    /// Takes the value of `key`, which `of` makes one of any kind.
    fn take<T: Literal>(
        &mut self,
        key: Key,
        value: Option<Value<T>>,
        of: impl FnOnce(&T) -> KeyValue,
    );
}

impl Args {
    /// `name = "..."`, where it is a literal.
    pub fn operation(&self) -> Option<&str> {
        match &self.name.as_ref()?.given {
            Given::Literal(name, _) => Some(&name.0),
            _ => None,
        }
    }
}

impl<T> Value<T> {
    fn expression(&self) -> Option<&Expr> {
        match &self.given {
            Given::Expression(expr) => Some(expr),
            _ => None,
        }
    }
}

/// A value that may be a literal or a constant expression.
pub struct Value<T> {
    /// Where the key stands.
    pub key: Span,
    /// What stands behind it.
    pub given: Given<T>,
}

/// What stands behind a key.
#[allow(
    clippy::large_enum_variant,
    reason = "only where spans have places, as in `cargo retry`, which has few of them"
)]
pub enum Given<T> {
    /// A literal, and where it stands.
    Literal(T, Place),
    /// What only the compiler can evaluate.
    Expression(Expr),
    /// Neither, and why.
    Wrong(Diagnostic),
}

/// `on`, `except`.
pub struct Filter {
    /// Where the key stands.
    pub key: Span,
    /// What stands behind it.
    pub given: Given<Predicate>,
}

/// A question about an error.
#[derive(Clone)]
pub enum Predicate {
    /// `on(pattern if guard)`, as written.
    Pattern(TokenStream),
    /// `on = closure or path`.
    Code(Expr),
}

impl Predicate {
    /// Returns the alternatives of a pattern, and whether a guard narrows them.
    pub fn alternatives(&self) -> Option<(Vec<String>, bool)> {
        let Self::Pattern(tokens) = self else {
            return None;
        };
        let parse = |input: ParseStream<'_>| {
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            let guard: TokenStream = input.parse()?;
            Ok((pattern, guard.to_string()))
        };
        let (pattern, guard) = parse.parse2(tokens.clone()).ok()?;
        let patterns: Vec<_> = match pattern {
            Pat::Or(or) => or.cases.into_iter().collect(),
            pattern => vec![pattern],
        };
        let texts = patterns.iter().map(|case| quote::quote!(#case).to_string());
        Some((texts.collect(), !matches!(&*guard, "" | "if true")))
    }

    /// The tokens as a text, to tell whether two are the same.
    pub fn text(&self) -> String {
        match self {
            Self::Pattern(pattern) => pattern.to_string(),
            Self::Code(code) => quote::quote!(#code).to_string(),
        }
    }
}

/// A closure, a path or another expression.
pub struct Code {
    /// Where the key stands.
    pub key: Span,
    /// The expression.
    pub given: Result<Expr, Diagnostic>,
}

/// `context = name`.
pub struct Binding(pub Result<Ident, Diagnostic>);

/// `clone(a, b)`.
pub struct Names {
    /// Where the key stands.
    pub key: Span,
    /// The names.
    pub given: Result<Vec<Ident>, Diagnostic>,
}

/// `crate = ::path`.
pub struct CratePath(pub Result<Path, Diagnostic>);

/// Reads the arguments of an attribute.
pub fn parse(tokens: TokenStream, faults: &mut Diagnostics) -> Args {
    let left_out = without_value(tokens.clone());
    if !left_out.is_empty() {
        for fault in left_out {
            faults.add(fault);
        }
        return Args::default();
    }
    if let Some(slip) = slips::policy_alone(&tokens).or_else(|| slips::hyphens(&tokens)) {
        faults.add(slip);
        return Args::default();
    }
    let written = tokens.clone();
    match items.parse2(tokens) {
        Ok(found) => from_items(found, keys::KEYS, faults),
        Err(fault) => {
            let message = format!("{fault}; keys are written `key = value`, `key(...)` or alone");
            let fault = Diagnostic::new(fault.span(), RuleId::Syntax, message);
            faults.add(slips::unreadable(&written).unwrap_or(fault));
            Args::default()
        }
    }
}

/// Keys of which nothing but `key =` stands there, or no `=`; the parser would only miss an
/// expression, at the end of the attribute without a place, or a comma.
pub fn without_value(tokens: TokenStream) -> Vec<Diagnostic> {
    use proc_macro2::{Spacing, TokenTree};
    let is = |token: Option<&TokenTree>, sign| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign);
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut faults = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let TokenTree::Ident(key) = token else {
            continue;
        };
        let starts = i
            .checked_sub(1)
            .is_none_or(|before| is(tokens.get(before), ','));
        let value = tokens.get(i.saturating_add(2));
        let is_key = keys::is_one_of(&key.to_string(), keys::KEYS);
        let unsigned = match tokens.get(i.saturating_add(1)) {
            Some(TokenTree::Literal(_)) => Some(1),
            Some(TokenTree::Punct(colon))
                if colon.as_char() == ':' && colon.spacing() == Spacing::Alone =>
            {
                value.map(|_| 2)
            }
            _ => None,
        };
        if let Some(gap) = unsigned.filter(|_| starts && is_key) {
            let item: TokenStream = (tokens.iter().skip(i))
                .take_while(|token| !is(Some(token), ','))
                .cloned()
                .collect();
            let value = quoted::<Duration>(written(&item.clone().into_iter().skip(gap).collect()));
            faults.push(Diagnostic::new(
                Place::of(&item),
                RuleId::Syntax,
                format!("a key is followed by `=`; write `{key} = {value}`"),
            ));
        }
        if starts && is(tokens.get(i.saturating_add(1)), '=') && (value.is_none() || is(value, ','))
        {
            faults.push(Diagnostic::new(
                key.span(),
                RuleId::Syntax,
                format!("`{key}` needs a value; write `{key} = ...`, or drop `{key}`"),
            ));
        }
    }
    faults
}

/// The keys of an attribute, one by one.
///
/// # Errors
///
/// When they are no list.
pub fn items(input: ParseStream<'_>) -> syn::Result<Vec<NestedMeta>> {
    let list = Punctuated::<NestedMeta, Token![,]>::parse_terminated(input)?;
    Ok(list.into_iter().collect())
}

/// Sorts out what is no key, then lets darling fill in the rest.
pub fn from_items(items: Vec<NestedMeta>, known: &[&str], faults: &mut Diagnostics) -> Args {
    let mut seen: Vec<String> = Vec::new();
    let beside: Vec<_> = items.iter().filter_map(key_of).collect();
    let mut good = Vec::new();
    for item in items {
        if let Some(slip) = slips::policy(&item) {
            faults.add(slip);
            continue;
        }
        let (path, span) = match &item {
            NestedMeta::Meta(meta) => (meta.path(), meta.path().span()),
            NestedMeta::NameValueInvalidExpr(pair) => {
                let key = written(&pair.path.to_token_stream());
                faults.add(slips::of(&key, &item).unwrap_or_else(|| no_expression(pair)));
                continue;
            }
            NestedMeta::Lit(lit) => {
                faults.push(lit.span(), RuleId::Syntax, slips::value_alone(lit));
                continue;
            }
        };
        let word = key_of(&item);
        let word = word.unwrap_or_else(|| quote::quote!(#path).to_string().replace(' ', ""));
        if !keys::is_one_of(&word, keys::KEYS) {
            let value = match &item {
                NestedMeta::Meta(Meta::NameValue(pair)) => {
                    Some(written(&pair.value.to_token_stream()))
                }
                NestedMeta::Meta(Meta::List(list)) => Some(format!("({})", written(&list.tokens))),
                _ => None,
            };
            let text = keys::unknown(&word, value.as_deref(), &beside);
            faults.push(span, RuleId::R15, text);
        } else if !keys::is_one_of(&word, known) {
            faults.push(
                span,
                RuleId::R15,
                format!(
                    "`{word}` belongs on functions only; {}",
                    keys::in_place_of(&word)
                ),
            );
        } else if seen.contains(&word) {
            faults.push(
                span,
                RuleId::R16,
                format!("`{word}` stands here twice; keep one of them"),
            );
        } else if let Some(slip) = slips::of(&word, &item) {
            faults.add(slip);
            // What is judged by whether these stand there.
            if matches!(&*word, "verify" | "until")
                && matches!(item, NestedMeta::Meta(Meta::NameValue(_)))
            {
                good.push(item);
            }
            seen.push(word);
        } else {
            seen.push(word);
            good.push(item);
        }
    }
    Args::from_list(&good).unwrap_or_else(|error| {
        for fault in error.flatten() {
            faults.push(fault.span(), RuleId::Syntax, fault.to_string());
        }
        Args::default()
    })
}

/// The key of an item, where it is a word.
fn key_of(item: &NestedMeta) -> Option<String> {
    let NestedMeta::Meta(meta) = item else {
        return None;
    };
    let word = meta.path().get_ident()?;
    Some(word.unraw().to_string())
}

/// The value of `key = value`, or why there is none.
fn value(meta: &Meta, example: &str) -> Result<Expr, Diagnostic> {
    match meta {
        Meta::NameValue(pair) => Ok(pair.value.clone()),
        _ => Err(needs_value(meta, example)),
    }
}

fn needs_value(meta: &Meta, example: &str) -> Diagnostic {
    let word = meta
        .path()
        .get_ident()
        .map(ToString::to_string)
        .unwrap_or_default();
    let example = match slips::in_parentheses(meta) {
        Some(value) => value,
        // A function of that name.
        None if word == "policy" && matches!(meta, Meta::List(_)) => "policy()".to_owned(),
        None => example.to_owned(),
    };
    Diagnostic::new(
        Place::of(meta),
        RuleId::Syntax,
        format!("`{word}` needs a value; write `{word} = {example}`"),
    )
}

/// A value that is no expression at all.
pub fn no_expression(pair: &darling::ast::MetaNameValueInvalidExpr) -> Diagnostic {
    let path = &pair.path;
    let key = quote::quote!(#path);
    Diagnostic::new(
        Place::of(&pair.value),
        RuleId::Syntax,
        format!("the value of `{key}` is not an expression; write one, or drop `{key}`"),
    )
}

impl<T: Literal> FromMeta for Value<T> {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let key = meta.path().span();
        let given = match meta {
            // A flag alone is `true`.
            Meta::Path(_) if T::from_flag(true).is_some() => match T::from_flag(true) {
                Some(Ok(on)) => Given::Literal(on, key.into()),
                _ => Given::Wrong(needs_value(meta, "true")),
            },
            Meta::NameValue(pair) => match literal::read(&pair.value) {
                Some(Ok(literal)) => Given::Literal(literal, Place::of(&pair.value)),
                Some(Err(wrong)) => Given::Wrong(Diagnostic::of(Place::of(&pair.value), wrong)),
                None => match bare_word::<T>(pair) {
                    Some(fault) => Given::Wrong(fault),
                    None => Given::Expression(pair.value.clone()),
                },
            },
            _ => {
                let path = meta.path();
                let word = quote::quote!(#path);
                let example = match slips::in_parentheses(meta) {
                    // Any text is a name.
                    Some(value) if path.is_ident("name") => format!("; write `{word} = {value}`"),
                    Some(value) => format!("; write `{word} = {}`", quoted::<T>(value)),
                    None => format!(", {}", T::EXAMPLE),
                };
                Given::Wrong(Diagnostic::new(
                    Place::of(meta),
                    RuleId::Syntax,
                    format!("`{word}` takes a value after `=`{example}"),
                ))
            }
        };
        Ok(Self { key, given })
    }
}

/// What is wrong with `backoff = exp`, a word without its quotes, or `backoff = exponential`, as others call it.
fn bare_word<T: Literal>(pair: &syn::MetaNameValue) -> Option<Diagnostic> {
    let Expr::Path(value) = &pair.value else {
        return None;
    };
    let word = match value.path.get_ident()?.to_string() {
        none if none == "None" => none.to_lowercase(),
        word => word,
    };
    // Any text is a name.
    if pair.path.is_ident("name") {
        return None;
    }
    let path = &pair.path;
    match T::from_text(&word)? {
        Ok(_) => Some(Diagnostic::new(
            Place::of(value),
            RuleId::Type,
            format!(
                "a word stands in quotes; write `{} = \"{word}\"`",
                quote::quote!(#path)
            ),
        )),
        Err(wrong) if path.is_ident("backoff") && keys::is_foreign_shape(&word) => {
            Some(Diagnostic::of(Place::of(value), wrong))
        }
        Err(_) => None,
    }
}

impl FromMeta for Filter {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let key = meta.path().span();
        let path = meta.path();
        let word = quote::quote!(#path).to_string();
        let given = match meta {
            Meta::NameValue(pair) if matches!(pair.value, Expr::Lit(_)) => {
                Given::Wrong(Diagnostic::new(
                    pair.value.span(),
                    RuleId::S9,
                    format!(
                        "`{word}` takes a closure, a path or a pattern; write `{word} = |error| ...`, `{word}(Error::Timeout)`, or `{word}(_)` for any error"
                    ),
                ))
            }
            Meta::NameValue(pair) => match bare_pattern(&word, &pair.value) {
                Some(fault) => Given::Wrong(fault),
                None => Given::Literal(Predicate::Code(pair.value.clone()), Place::of(&pair.value)),
            },
            Meta::List(list) if closure(&list.tokens).is_some() => Given::Wrong(Diagnostic::new(
                Place::of(&list.tokens),
                RuleId::Syntax,
                format!(
                    "a closure stands after `=`; write `{word} = {}`",
                    closure(&list.tokens).unwrap_or_default()
                ),
            )),
            Meta::List(list) => match list.parse_args_with(pattern) {
                Ok(pattern) => match lone_binding(&pattern) {
                    Some(name) => Given::Wrong(Diagnostic::new(
                        name.span(),
                        RuleId::S9,
                        format!(
                            "`{name}` alone is a binding and matches any error; write `{word} = {name}` for a function, or `{word}(_)` for any error"
                        ),
                    )),
                    None => Given::Literal(Predicate::Pattern(pattern), Place::of(&list.tokens)),
                },
                Err(_) if list.tokens.is_empty() => Given::Wrong(Diagnostic::new(
                    meta.span(),
                    RuleId::R13,
                    "an empty pattern matches nothing; name the errors, or write `on(_)` for any",
                )),
                Err(_) if separated(&list.tokens).is_some() => Given::Wrong(Diagnostic::new(
                    Place::of(&list.tokens),
                    RuleId::Syntax,
                    format!(
                        "several errors are separated by `|`; write `{word}({})`",
                        separated(&list.tokens).unwrap_or_default()
                    ),
                )),
                Err(fault) => Given::Wrong(Diagnostic::new(
                    fault.span(),
                    RuleId::Syntax,
                    format!(
                        "this is not a pattern with an optional guard; write `{word}(Error::Timeout)`, `{word}(error if error.is_timeout())`, or `{word}(_)` for any error"
                    ),
                )),
            },
            Meta::Path(_) => Given::Wrong(needs_value(meta, "|error| ...")),
        };
        Ok(Self { key, given })
    }
}

/// `pattern` or `pattern if guard`. A lone name such as `Timeout` must name
/// something: as a binding it would match every error.
fn pattern(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    struct Named;
    impl syn::visit_mut::VisitMut for Named {
        fn visit_pat_mut(&mut self, pat: &mut Pat) {
            syn::visit_mut::visit_pat_mut(self, pat);
            if let Pat::Ident(binding) = pat
                && binding.by_ref.is_none()
                && binding.mutability.is_none()
                && binding.subpat.is_none()
                && is_camel_case(&binding.ident)
            {
                let name = &binding.ident;
                *pat = Pat::Verbatim(quote::quote!(#name { .. }));
            }
        }
    }
    let mut pattern = Pat::parse_multi_with_leading_vert(input)?;
    syn::visit_mut::VisitMut::visit_pat_mut(&mut Named, &mut pattern);
    let guard = match input.parse::<Option<Token![if]>>()? {
        Some(_) => {
            let guard: Expr = input.parse()?;
            quote::quote!(if #guard)
        }
        None => TokenStream::new(),
    };
    input.parse::<Option<Token![,]>>()?;
    Ok(quote::quote!(#pattern #guard))
}

/// A closure as people write it; not a pattern such as `| A | B`.
fn closure(tokens: &TokenStream) -> Option<String> {
    let closure: syn::ExprClosure = syn::parse2(tokens.clone()).ok()?;
    let (parameters, body) = (&closure.inputs, &closure.body);
    let is_closure = match parameters.first()? {
        Pat::Ident(name) => !name.ident.to_string().starts_with(char::is_uppercase),
        Pat::Type(_) | Pat::Wild(_) => true,
        _ => false,
    };
    let parameters = written(&quote::quote!(#parameters));
    let body = written(&quote::quote!(#body));
    is_closure.then(|| format!("|{parameters}| {body}"))
}

/// Patterns between which `,`, `||` or `&&` stands, with `|` in its place.
fn separated(tokens: &TokenStream) -> Option<String> {
    let text = written(tokens).replace("||", "|").replace("&&", "| ");
    let text = text.trim_end_matches([',', ' ']).replace(',', " |");
    let fits = text
        .parse()
        .is_ok_and(|tokens| pattern.parse2(tokens).is_ok());
    fits.then_some(text)
}

/// What is wrong with `on = Error::Timeout`: a pattern, which no function is.
fn bare_pattern(key: &str, value: &Expr) -> Option<Diagnostic> {
    let tokens = value.to_token_stream();
    let pattern = Pat::parse_multi.parse2(tokens.clone()).ok()?;
    let place = Place::of(value);
    if let Some(test) = test_of_kind(&pattern) {
        let text = format!(
            "`{key}` takes a function of the error, which has this kind; write `{key} = |error| {test}`"
        );
        return Some(Diagnostic::new(place, RuleId::S9, text));
    }
    names_errors(&pattern).then(|| {
        let text = written(&tokens);
        let text = format!("a pattern stands in parentheses; write `{key}({text})`");
        Diagnostic::new(place, RuleId::Syntax, text)
    })
}

/// The name, if a pattern is nothing but a binding.
fn lone_binding(pattern: &TokenStream) -> Option<Ident> {
    let name: Ident = syn::parse2(pattern.clone()).ok()?;
    name.to_string()
        .starts_with(|first: char| first.is_lowercase())
        .then_some(name)
}

impl FromMeta for Code {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        Ok(Self {
            key: meta.path().span(),
            given: value(meta, "..."),
        })
    }
}

impl FromMeta for Binding {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        Ok(Self(value(meta, "attempt").and_then(|expr| match &expr {
            Expr::Path(path) => path.path.require_ident().cloned().map_err(|fault| Diagnostic::syntax(&fault)),
            _ => Err(Diagnostic::new(
                expr.span(),
                RuleId::Syntax,
                "`context` is the name by which the body sees its attempt; write `context = attempt`",
            )),
        })))
    }
}

impl FromMeta for Names {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let given = match meta {
            Meta::List(list) => list
                .parse_args_with(names)
                .map_err(|fault| Diagnostic::syntax(&fault))
                .and_then(|names| {
                    if names.is_empty() {
                        return Err(Diagnostic::new(
                            meta.span(),
                            RuleId::S7,
                            "`clone` lists no parameter; write `clone(parameter)`, or drop it",
                        ));
                    }
                    Ok(names)
                }),
            Meta::NameValue(pair) => {
                let names = written(&pair.value.to_token_stream());
                let names = names.trim_matches(['[', ']', '(', ')', '"']);
                Err(Diagnostic::new(
                    Place::of(meta),
                    RuleId::Syntax,
                    format!("`clone` takes a list of parameters; write `clone({names})`"),
                ))
            }
            Meta::Path(_) => Err(Diagnostic::new(
                meta.span(),
                RuleId::Syntax,
                "`clone` takes a list of parameters; write `clone(parameter)`, with those that the body moves",
            )),
        };
        Ok(Self {
            key: meta.path().span(),
            given,
        })
    }
}

fn names(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    let list = Punctuated::<Ident, Token![,]>::parse_terminated_with(input, Ident::parse_any)?;
    Ok(list.into_iter().collect())
}

impl FromMeta for CratePath {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        Ok(Self(value(meta, "::reattempt").and_then(
            |expr| match &expr {
                Expr::Path(path) if path.qself.is_none() => Ok(path.path.clone()),
                // A text, as serde has it.
                Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Str(text),
                    ..
                }) => text.parse().map_err(|_| {
                    Diagnostic::new(
                        text.span(),
                        RuleId::Syntax,
                        "`crate` is the path of this crate; write `crate = ::reattempt`",
                    )
                }),
                _ => Err(Diagnostic::new(
                    expr.span(),
                    RuleId::Syntax,
                    "`crate` is the path of this crate; write `crate = ::reattempt`",
                )),
            },
        )))
    }
}
