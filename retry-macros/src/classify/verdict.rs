//! The attributes of the derive: `#[retry(transient)]`, `#[retry(throttled,
//! after = field)]`, `#[retry(default = permanent)]`.

use darling::ast::NestedMeta;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Fields, Ident, Lit, Member, Meta, Path, Token, Type, parse_quote};

use reattempt_policy::rules::RuleId;
use reattempt_syntax::diagnostics::{Diagnostic, Diagnostics, Place};
use reattempt_syntax::item::is_retry;

use super::advice::{self, NO_TYPES, unknown};
use super::functions;
use super::words::{Said, WORDS, Word};

/// What stands between two commas.
enum Item {
    Meta(NestedMeta),
    /// `from = RequestError<E, R>`: a type, which is no expression.
    From(Ident, Type),
    /// Code, which is no verdict: `code >= 500`, `chain![io::Error]`.
    Code(Expr),
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        match ahead.parse::<Ident>() {
            Ok(word) if word == "from" && ahead.peek(Token![=]) => {
                input.parse::<Ident>()?;
                input.parse::<Token![=]>()?;
                Ok(Self::From(word, input.parse()?))
            }
            Ok(word) if ahead.peek(Token![if]) && (word == "transient" || word == "permanent") => {
                input.parse::<Ident>()?;
                input.parse::<Token![if]>()?;
                let condition: Expr = input.parse()?;
                Ok(Self::Code(if word == "transient" {
                    condition
                } else {
                    parse_quote!(!(#condition))
                }))
            }
            _ => {
                let ahead = input.fork();
                let is_meta = ahead.parse::<NestedMeta>().is_ok() && is_at_end(&ahead);
                match code(input) {
                    Some(code) if !is_meta => {
                        input.parse::<Expr>()?;
                        Ok(Self::Code(code))
                    }
                    _ => input.parse().map(Self::Meta),
                }
            }
        }
    }
}

fn is_at_end(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![,])
}

/// The expression that stands before the next comma, if it is one.
fn code(input: ParseStream<'_>) -> Option<Expr> {
    let ahead = input.fork();
    let code = ahead.parse().ok()?;
    is_at_end(&ahead).then_some(code)
}

impl Word {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "transient" => Self::Transient,
            "permanent" => Self::Permanent,
            "refused" => Self::Refused,
            "forbidden" => Self::Forbidden,
            "throttled" => Self::Throttled,
            "inherit" => Self::Inherit,
            _ => return None,
        })
    }

    /// The word on a variant, where it may be `from`, too.
    fn alone(word: &str) -> Option<Self> {
        match word {
            "from" => Some(Self::From(None)),
            _ => Self::of(word),
        }
    }

    /// Why this verdict goes with no delay.
    fn no_delay(&self) -> Option<&'static str> {
        match self {
            Self::Transient | Self::Refused | Self::Throttled => None,
            Self::Permanent => Some(
                "`after` is the delay before another attempt, and `permanent` allows none; drop `after`, or write `transient`, `refused` or `throttled`",
            ),
            Self::Forbidden => Some(
                "`after` is the delay before another attempt, and `forbidden` allows none; drop `after`, or write `transient`, `refused` or `throttled`",
            ),
            Self::Inherit => Some(
                "`inherit` takes the delay from the wrapped error, too; drop `after`, or write `transient`, `refused` or `throttled`",
            ),
            Self::With(_) => Some(
                "`with` gives the delay with its verdict; drop `after`, or write `transient`, `refused` or `throttled`",
            ),
            Self::From(_) => Some(
                "`from` takes the delay from the wrapped error, too; drop `after`, or write `transient`, `refused` or `throttled`",
            ),
            Self::Chain(_) => Some(
                "`chain` takes the delay from the error that it finds, too; drop `after`, or write `transient`, `refused` or `throttled`",
            ),
        }
    }

    /// The word, where it asks another error.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Chain(_) => "chain",
            Self::From(_) => "from",
            _ => "inherit",
        }
    }

    /// The word, where it may stand behind `default =`.
    pub(super) const fn as_default(&self) -> Option<&'static str> {
        Some(match self {
            Self::Transient => "transient",
            Self::Permanent => "permanent",
            Self::Refused => "refused",
            Self::Forbidden => "forbidden",
            Self::Throttled => "throttled",
            Self::Inherit => "inherit",
            Self::Chain(_) | Self::With(_) | Self::From(_) => return None,
        })
    }

    /// The word of the verdict that it is with a delay.
    pub(super) const fn with_delay(&self) -> &'static str {
        match self {
            Self::Transient => "transient",
            _ => "throttled",
        }
    }

    pub(super) fn tokens(&self, krate: &TokenStream) -> TokenStream {
        match self {
            Self::Transient => ours!(#krate::Verdict::Transient),
            Self::Refused => ours!(#krate::Verdict::Refused),
            Self::Forbidden => ours!(#krate::Verdict::RetryForbidden),
            Self::Throttled => {
                ours!(#krate::Verdict::Throttled(::core::option::Option::None))
            }
            Self::Permanent | Self::Inherit | Self::Chain(_) | Self::From(_) | Self::With(_) => {
                ours!(#krate::Verdict::Permanent)
            }
        }
    }
}

/// What the attributes above a type say.
#[derive(Default)]
pub(super) struct OnType {
    pub(super) default: Option<Said>,
    /// Whether a verdict is written, be it wrong.
    pub(super) is_said: bool,
    pub(super) own: Option<Said>,
    pub(super) krate: Option<Path>,
}

/// Reads them; `fields` are those of a struct.
pub(super) fn of_type(
    attributes: &[Attribute],
    fields: Option<&Fields>,
    faults: &mut Diagnostics,
) -> OnType {
    let mut found = OnType::default();
    let mut rest = Vec::new();
    let (all, is_whole) = items(attributes, fields.is_none(), faults);
    found.is_said = !is_whole;
    for item in all {
        match &item {
            Item::Meta(NestedMeta::Meta(meta)) if meta.path().is_ident("default") => {
                found.is_said = true;
                found.default = default(meta, faults);
            }
            Item::Meta(NestedMeta::Meta(Meta::NameValue(pair))) if pair.path.is_ident("crate") => {
                match path_of(&pair.value) {
                    Some(path) => found.krate = Some(path.clone()),
                    None => faults.push(
                        pair.value.span(),
                        RuleId::Syntax,
                        "`crate` is the path of this crate; write `crate = ::reattempt`",
                    ),
                }
            }
            _ => {
                found.is_said = true;
                rest.push(item);
            }
        }
    }
    found.own = one_of(rest, fields.unwrap_or(&Fields::Unit), faults);
    found
}

/// `default = permanent`.
fn default(meta: &Meta, faults: &mut Diagnostics) -> Option<Said> {
    let Meta::NameValue(pair) = meta else {
        faults.push(
            meta.span(),
            RuleId::S11,
            "`default` needs a verdict; write `#[retry(default = permanent)]`",
        );
        return None;
    };
    let word = path_of(&pair.value)
        .and_then(|path| path.get_ident())
        .and_then(|ident| Word::of(&ident.to_string()));
    if word.is_none() {
        let text = advice::no_default(&pair.value);
        faults.push(Place::of(&pair.value), RuleId::S11, text);
    }
    word.map(|word| Said {
        word,
        after: None,
        span: pair.value.span(),
        is_default: true,
    })
}

/// Whether a field has an attribute: its place is above the `owner`, `the variant` of this name or `the type`.
pub(super) fn on_field(
    fields: &Fields,
    owner: &str,
    name: &Ident,
    faults: &mut Diagnostics,
) -> bool {
    let attributes = fields.iter().flat_map(|field| &field.attrs);
    let mut found = false;
    for attribute in attributes.filter(|attribute| is_said(attribute)) {
        found = true;
        let written = advice::attribute(&attribute.meta.to_token_stream());
        faults.push(
            attribute.path().span(),
            RuleId::S11,
            format!("a verdict belongs on a {owner}, not on a field; put `{written}` above the {owner} `{name}`"),
        );
    }
    found
}

pub(super) fn of_variant(
    attributes: &[Attribute],
    fields: &Fields,
    faults: &mut Diagnostics,
) -> Option<Said> {
    let (items, _) = items(attributes, false, faults);
    one_of(items, fields, faults)
}

fn path_of(expr: &Expr) -> Option<&Path> {
    match expr {
        Expr::Path(path) => Some(&path.path),
        _ => None,
    }
}

/// Whether an attribute is meant for the derive: others have the name of theirs.
pub(super) fn is_said(attribute: &Attribute) -> bool {
    is_retry(attribute) || attribute.path().is_ident("classify")
}

/// The attributes of one place that are meant for the derive. A verdict by itself, as in `#[transient]`, is that of another
/// derive where one is said.
pub(super) fn meant(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    let is_any_said = attributes.iter().any(is_said);
    attributes.iter().filter(move |attribute| {
        let is_bare = || WORDS.iter().any(|word| attribute.path().is_ident(word));
        is_said(attribute) || !is_any_said && is_bare()
    })
}

/// `#[retryable]`, a word that others have for a verdict, and what to say where no verdict is said.
pub(super) fn in_other_words(attributes: &[Attribute]) -> Option<(Span, String)> {
    attributes.iter().find_map(|attribute| {
        let word = attribute.path().get_ident()?;
        let verdict = advice::called_here(&word.to_string())?;
        let text = format!("the attribute of `Classify` is `retry`; write `#[retry({verdict})]`");
        Some((word.span(), text))
    })
}

/// What stands in all `#[retry(...)]` of one place, and whether all of them could be read.
fn items(attributes: &[Attribute], is_enum: bool, faults: &mut Diagnostics) -> (Vec<Item>, bool) {
    let (mut items, mut is_whole) = (Vec::new(), true);
    for attribute in meant(attributes) {
        if !is_retry(attribute) {
            is_whole = false;
            let text = advice::renamed(&attribute.meta);
            faults.push(attribute.path().span(), RuleId::S11, text);
            continue;
        }
        let mut missing = || {
            is_whole = false;
            let text = advice::missing(&attribute.meta, is_enum);
            faults.push(attribute.path().span(), RuleId::S11, text);
        };
        let Meta::List(list) = &attribute.meta else {
            missing();
            continue;
        };
        match Punctuated::<Item, Token![,]>::parse_terminated.parse2(list.tokens.clone()) {
            Ok(found) if found.is_empty() => missing(),
            Ok(found) => items.extend(found),
            Err(fault) => {
                is_whole = false;
                faults.add(Diagnostic::syntax(&fault));
            }
        }
    }
    (items, is_whole)
}

/// The one verdict among `items`, with `after` if it is there.
fn one_of(items: Vec<Item>, fields: &Fields, faults: &mut Diagnostics) -> Option<Said> {
    let alone = items.len() == 1;
    let mut said: Option<Said> = None;
    let mut after: Option<(Span, Expr)> = None;
    for item in items {
        let item = match item {
            Item::Meta(item) => item,
            Item::From(word, ty) => {
                say(
                    &mut said,
                    Word::From(Some(Box::new(ty))),
                    word.span(),
                    faults,
                );
                continue;
            }
            Item::Code(code) => {
                let text = advice::code(&code, fields);
                faults.push(Place::of(&code), RuleId::S11, text);
                continue;
            }
        };
        let span = item.span();
        match &item {
            NestedMeta::Meta(meta @ Meta::Path(path)) => {
                match path
                    .get_ident()
                    .and_then(|word| Word::alone(&word.to_string()))
                {
                    Some(word) => say(&mut said, word, span, faults),
                    None => faults.push(Place::of(path), RuleId::S11, unknown(meta, fields, alone)),
                }
            }
            NestedMeta::Meta(Meta::List(list)) if list.path.is_ident("chain") => {
                let types = Punctuated::<Type, Token![,]>::parse_terminated;
                match types.parse2(list.tokens.clone()) {
                    Ok(types) if !types.is_empty() => {
                        let word = Word::Chain(types.into_iter().collect());
                        say(&mut said, word, span, faults);
                    }
                    Ok(_) => faults.push(span, RuleId::S11, NO_TYPES),
                    Err(fault) => faults.add(Diagnostic::syntax(&fault)),
                }
            }
            NestedMeta::Meta(Meta::NameValue(pair)) if pair.path.is_ident("with") => {
                if let Some(text) = functions::fault(&pair.value, fields) {
                    faults.push(Place::of(&pair.value), RuleId::S11, text);
                    continue;
                }
                let word = Word::With(Box::new(pair.value.clone()));
                say(&mut said, word, pair.path.span(), faults);
            }
            NestedMeta::Meta(Meta::NameValue(pair)) if pair.path.is_ident("after") => {
                after = Some((pair.path.span(), pair.value.clone()));
            }
            NestedMeta::Meta(meta) => faults.push(span, RuleId::S11, unknown(meta, fields, alone)),
            NestedMeta::Lit(value) => {
                faults.push(span, RuleId::S11, advice::literal(value));
            }
            NestedMeta::NameValueInvalidExpr(pair) => {
                faults.push(Place::of(&pair.path), RuleId::S11, advice::no_verdict());
            }
        }
    }
    if let Some((key, value)) = after {
        delay(said.as_mut(), key, &value, faults);
    }
    said
}

/// Notes `after = value` of a verdict.
fn delay(said: Option<&mut Said>, key: Span, value: &Expr, faults: &mut Diagnostics) {
    let Some(said) = said else {
        faults.push(
            key,
            RuleId::S11,
            "`after` needs a verdict; write `#[retry(throttled, after = field)]`, or `transient` or `refused` instead of `throttled`",
        );
        return;
    };
    if let Some(why) = said.word.no_delay() {
        faults.push(key, RuleId::S11, why);
        return;
    }
    said.after = member(value);
    if said.after.is_none() {
        let fixed = advice::fixed_delay(&said.word, value);
        faults.push(
            Place::of(value),
            RuleId::S11,
            format!(
                "`after` names a field: write `after = field`, or `after = 0` in a tuple; {fixed}"
            ),
        );
    }
}

/// Notes the verdict of a place, which has one.
fn say(said: &mut Option<Said>, word: Word, span: Span, faults: &mut Diagnostics) {
    if said.is_some() {
        faults.push(
            span,
            RuleId::S11,
            "a variant can have only one verdict; keep one of them",
        );
        return;
    }
    *said = Some(Said {
        word,
        after: None,
        span,
        is_default: false,
    });
}

fn member(value: &Expr) -> Option<Member> {
    match value {
        Expr::Path(path) => path.path.get_ident().cloned().map(Member::Named),
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(index) => Some(Member::Unnamed(syn::Index {
                index: index.base10_parse().ok()?,
                span: index.span(),
            })),
            // A field in quotes, as serde has names.
            Lit::Str(name) => name.parse().ok().map(Member::Named),
            _ => None,
        },
        _ => None,
    }
}
