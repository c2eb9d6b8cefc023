//! A body that uses nothing of the function but one part of one parameter: what the compiler says of it, it says of that
//! part.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{FnArg, Pat, ReceiverKind, Signature, Type};

use super::chains::passes_on;
use crate::item::{has_word, is_there_sometimes, names, parameters};
use crate::moves::{any_name, conditions};
use crate::rename::self_to;
use crate::tokens::is_camel_case;

/// A copy of a body in which all else has another name.
#[derive(Debug, Clone)]
pub struct Apart {
    /// The copy.
    pub body: TokenStream,
    /// What stands for the part.
    pub source: StandIn,
    /// What stands for all else.
    pub others: Vec<StandIn>,
}

/// Another name for a parameter.
#[derive(Debug, Clone)]
pub struct StandIn {
    /// The name.
    pub name: Ident,
    /// The parameter of which it has the type.
    pub of: Ident,
    /// Whether that is a `&mut` by its looks.
    pub is_unique: bool,
    /// The `#[cfg(..)]` of it.
    pub conditions: Vec<TokenStream>,
}

/// What is asked about.
pub(super) struct Subject<'a> {
    /// The parameter.
    pub(super) name: &'a Ident,
    /// The fields that lead to the part of it.
    pub(super) part: &'a [String],
    /// The only code that may borrow it; all of the body where there is none.
    pub(super) users: Vec<Vec<TokenTree>>,
}

impl Apart {
    /// Returns the copy of a body.
    pub(super) fn of(
        signature: &Signature,
        body: &TokenStream,
        subject: &Subject<'_>,
    ) -> Option<Self> {
        // Two of the same `impl` would be one too many.
        if has_word(body, "impl") || !conditions_of(signature, subject.name)?.is_empty() {
            return None;
        }
        let (name, source) = (subject.name, Ident::new("source", Span::mixed_site()));
        let rest = if name == "self" {
            Ident::new("rest", Span::mixed_site())
        } else {
            name.clone()
        };
        let renaming = Renaming {
            subject,
            source: &source,
            rest: &rest,
        };
        let mut copy = renaming.tokens(body, false, subject.users.is_empty());
        if !names(&copy, &source) {
            return None;
        }
        let mut others = Vec::new();
        if is_used(&rest, &copy) {
            others.push(StandIn::of_unique(rest, name));
        }
        let unique: Vec<_> = signature.inputs.iter().filter_map(unique).collect();
        for (of, _) in parameters(signature) {
            if of == *name || !is_used(&of, body) {
                continue;
            }
            let mut name = of.clone();
            if of == "self" {
                name = Ident::new("this", Span::mixed_site());
                copy = self_to(copy, &name);
            }
            let is_unique = unique.contains(&of);
            others.push(StandIn {
                conditions: conditions_of(signature, &of)?,
                name,
                of,
                is_unique,
            });
        }
        Some(Self {
            body: copy,
            source: StandIn::of_unique(source, name),
            others,
        })
    }

    /// Writes `name` for `self`.
    pub(super) fn call_self(&mut self, name: &Ident) {
        let all = self.others.iter_mut().chain([&mut self.source]);
        let of_self = all.filter(|it| it.of == "self");
        of_self.for_each(|it| it.of = name.clone());
    }
}

impl StandIn {
    fn of_unique(name: Ident, of: &Ident) -> Self {
        Self {
            name,
            of: of.clone(),
            is_unique: true,
            conditions: Vec::new(),
        }
    }
}

/// The conditions of a parameter; `None` for those of a pattern with more than a name.
fn conditions_of(signature: &Signature, name: &Ident) -> Option<Vec<TokenStream>> {
    let mut inputs = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) if is_there_sometimes(typed) => Some(typed),
        _ => None,
    });
    inputs.try_fold(Vec::new(), |found, typed| match &*typed.pat {
        Pat::Ident(it) if it.ident == *name => Some(conditions(&typed.to_token_stream())),
        Pat::Ident(_) => Some(found),
        _ => None,
    })
}

/// The name of a parameter that is a `&mut`.
pub(super) fn unique(input: &FnArg) -> Option<Ident> {
    match input {
        FnArg::Receiver(receiver) => match &receiver.kind {
            ReceiverKind::Reference(_, _, Some(_)) => {
                Some(Ident::new("self", receiver.self_token.span))
            }
            _ => None,
        },
        FnArg::Typed(typed) => match (&*typed.pat, &*typed.ty) {
            (Pat::Ident(name), Type::Reference(it)) if it.mutability.is_some() => {
                Some(name.ident.clone())
            }
            _ => None,
        },
    }
}

/// Whether a variable of this name stands among the tokens.
pub(super) fn is_used(name: &Ident, tokens: &TokenStream) -> bool {
    let is_it = |found: &str, is_start: bool| is_start && name == found;
    any_name(tokens, &is_it)
}

/// Writes one name where the part of the parameter may be borrowed, and another one elsewhere.
struct Renaming<'a> {
    subject: &'a Subject<'a>,
    source: &'a Ident,
    rest: &'a Ident,
}

impl Renaming<'_> {
    /// The tokens of a group, which may be the fields of a value.
    fn tokens(&self, tokens: &TokenStream, are_fields: bool, is_place: bool) -> TokenStream {
        let tokens: Vec<_> = tokens.clone().into_iter().collect();
        let mut end_of_place = 0_usize;
        let renamed = tokens.iter().enumerate().map(|(index, token)| {
            let (before, from) = tokens.split_at_checked(index).unwrap_or_default();
            let mut users = self.subject.users.iter();
            if let Some(user) = users.find(|user| starts_with(from, user)) {
                let end = index.saturating_add(user.len());
                end_of_place = end_of_place.max(end);
            }
            let is_place = is_place || index < end_of_place;
            let after = from.get(1..).unwrap_or_default();
            match token {
                TokenTree::Group(group) => {
                    let are_fields = group.delimiter() == Delimiter::Brace && is_type(before);
                    let inside = self.tokens(&group.stream(), are_fields, is_place);
                    let mut copied = Group::new(group.delimiter(), inside);
                    copied.set_span(group.span());
                    TokenTree::from(copied).into()
                }
                TokenTree::Ident(name)
                    if name == self.subject.name
                        && !is_behind_dot(before)
                        && !is_double(after, ':') =>
                {
                    let own = self.name(name, after, is_place);
                    if !are_fields || !is_end(before.last()) {
                        own.into_token_stream()
                    } else if is_end(after.first()) {
                        quote::quote!(#name: #own)
                    } else {
                        token.clone().into()
                    }
                }
                token => token.clone().into(),
            }
        });
        renamed.collect()
    }

    fn name(&self, name: &Ident, after: &[TokenTree], is_place: bool) -> Ident {
        let is_source = is_place && overlaps(&fields(after).0, self.subject.part);
        let mut own = if is_source { self.source } else { self.rest }.clone();
        own.set_span(own.span().located_at(name.span()));
        own
    }
}

/// Whether what follows these tokens in braces are fields: `Page { .. }`, `Page::<T> { .. }`.
fn is_type(before: &[TokenTree]) -> bool {
    match before.last() {
        Some(TokenTree::Ident(name)) => is_camel_case(name),
        last => is_sign(last, '>') && !is_sign(before.iter().rev().nth(1), '='),
    }
}

/// Whether tokens begin with a copy of others. What they look like as text depends on how they were made.
fn starts_with(tokens: &[TokenTree], others: &[TokenTree]) -> bool {
    tokens.len() >= others.len() && tokens.iter().zip(others).all(|(a, b)| is_same(a, b))
}

fn is_same(one: &TokenTree, other: &TokenTree) -> bool {
    match (one, other) {
        (TokenTree::Group(one), TokenTree::Group(other)) => {
            let tokens = |group: &Group| group.stream().into_iter().collect::<Vec<_>>();
            let (one_inside, inside) = (tokens(one), tokens(other));
            one.delimiter() == other.delimiter()
                && one_inside.len() == inside.len()
                && starts_with(&one_inside, &inside)
        }
        (TokenTree::Punct(one), TokenTree::Punct(other)) => one.as_char() == other.as_char(),
        (one, other) => one.to_string() == other.to_string(),
    }
}

/// Whether a name behind these tokens is that of a field or of a part of a path.
fn is_behind_dot(before: &[TokenTree]) -> bool {
    let mut last = before.iter().rev();
    let (last, previous) = (last.next(), last.next());
    is_sign(last, '.') && !is_sign(previous, '.') || is_sign(last, ':') && is_sign(previous, ':')
}

/// Whether tokens begin with two of a sign.
fn is_double(tokens: &[TokenTree], sign: char) -> bool {
    is_sign(tokens.first(), sign) && is_sign(tokens.get(1), sign)
}

fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(it)) if it.as_char() == sign)
}

/// Whether a list of fields begins or ends there, or goes on.
fn is_end(token: Option<&TokenTree>) -> bool {
    token.is_none() || is_sign(token, ',')
}

/// Whether one of two parts is the other one, or holds it.
fn overlaps(one: &[String], other: &[String]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// What a body does with a parameter somewhere.
pub(super) struct Use {
    /// The fields of it; none where it is used as a whole.
    fields: Vec<String>,
    form: Form,
    /// Whether a method `take` is called on it, as on an `Option`.
    pub(super) is_taken: bool,
}

/// How a parameter is used.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// `&mut` stands in front of it.
    Unique,
    /// `&` does.
    Shared,
    /// The value, or its success, is used as it is: as an argument or as a part of another one.
    Value,
    Other,
}

impl Use {
    /// Returns those among the tokens.
    pub(super) fn all(name: &Ident, tokens: &TokenStream) -> Vec<Self> {
        let tokens: Vec<_> = tokens.clone().into_iter().collect();
        let mut uses = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            let (before, _) = tokens.split_at_checked(index).unwrap_or_default();
            match token {
                TokenTree::Group(group) => uses.extend(Self::all(name, &group.stream())),
                TokenTree::Ident(found) if found == name && !is_behind_dot(before) => {
                    let after = tokens.get(index.saturating_add(1)..).unwrap_or_default();
                    let (fields, rest) = fields(after);
                    let (before, is_copied) = match before {
                        [before @ .., star] if is_sign(Some(star), '*') => (before, true),
                        before => (before, false),
                    };
                    let form = match before.last() {
                        Some(TokenTree::Ident(word)) if word == "mut" => Form::Unique,
                        before if is_sign(before, '&') => Form::Shared,
                        _ if !is_copied && is_handed_on(rest) => Form::Value,
                        _ => Form::Other,
                    };
                    uses.push(Self {
                        fields,
                        form,
                        is_taken: matches!(rest.get(1), Some(TokenTree::Ident(it)) if it == "take"),
                    });
                }
                _ => {}
            }
        }
        uses
    }

    /// Whether `&mut` stands in front of it.
    pub(super) fn is_unique(&self) -> bool {
        self.form == Form::Unique
    }

    /// Whether `&` does.
    pub(super) fn is_shared(&self) -> bool {
        self.form == Form::Shared
    }

    /// Whether the value, or its success, is used as it is.
    pub(super) fn is_value(&self) -> bool {
        self.form == Form::Value
    }

    /// Notes that a pattern takes the value apart.
    pub(super) fn take_apart(&mut self) {
        if self.is_value() {
            self.form = Form::Other;
        }
    }

    /// Whether it is no use of a field.
    pub(super) const fn is_of_all(&self) -> bool {
        self.fields.is_empty()
    }

    /// Whether the value of a field is used as it is.
    pub(super) fn is_field(&self) -> bool {
        self.is_value() && !self.is_of_all()
    }

    /// Whether the parameter is passed on: what gets it may borrow it as long.
    pub(super) fn is_lent(&self) -> bool {
        self.is_unique() || self.is_value() && self.is_of_all()
    }

    /// Returns the place.
    pub(super) fn place(&self, name: &Ident) -> TokenStream {
        let places = places(name, name.span(), &self.fields);
        places
            .into_iter()
            .next_back()
            .unwrap_or_else(|| name.to_token_stream())
    }
}

/// Whether a value in front of the tokens is used as it is, or its success is.
fn is_handed_on(after: &[TokenTree]) -> bool {
    match after {
        [TokenTree::Punct(_), TokenTree::Ident(name), rest @ ..] if is_sign(after.first(), '.') => {
            name == "await" && is_handed_on(rest) || passes_on(&name.to_string(), true)
        }
        _ => is_end(after.first()) || is_sign(after.first(), ';') || is_sign(after.first(), '?'),
    }
}

/// The part of a parameter that all its uses are uses of, unless two parts are used on their own.
pub(super) fn only_part(uses: &[&Use]) -> Option<Vec<String>> {
    let mut parts = uses.iter().map(|it| &it.fields);
    let largest = parts.clone().min_by_key(|it| it.len())?;
    let is_one = parts.all(|it| it.starts_with(largest));
    is_one.then(|| largest.clone())
}

/// The fields of the first use.
pub(super) fn part_of(name: &Ident, tokens: &TokenStream) -> Option<Vec<String>> {
    let first = Use::all(name, tokens).into_iter().next();
    first.map(|it| it.fields)
}

/// The fields on the way to a part of a parameter: `self.a` and `self.a.b`.
pub(super) fn places(name: &Ident, span: Span, part: &[String]) -> Vec<TokenStream> {
    let mut place = name.to_token_stream();
    let places = part.iter().map_while(|field| {
        let mut field = field.parse::<TokenStream>().ok()?.into_iter().next()?;
        field.set_span(span);
        place = quote::quote!(#place.#field);
        Some(place.clone())
    });
    places.collect()
}

/// The fields that are named in front of a call, and what follows them.
fn fields(mut tokens: &[TokenTree]) -> (Vec<String>, &[TokenTree]) {
    let mut fields = Vec::new();
    while let [TokenTree::Punct(dot), field, rest @ ..] = tokens {
        let is_field = match field {
            TokenTree::Ident(name) => name != "await" && !is_call(rest),
            TokenTree::Literal(_) => true,
            _ => false,
        };
        if dot.as_char() != '.' || !is_field {
            break;
        }
        fields.push(field.to_string());
        tokens = rest;
    }
    (fields, tokens)
}

/// Whether a name in front of the tokens is that of a method.
fn is_call(after: &[TokenTree]) -> bool {
    match after {
        [TokenTree::Group(call), ..] => call.delimiter() == Delimiter::Parenthesis,
        // `parse::<T>()`
        after => is_double(after, ':'),
    }
}
