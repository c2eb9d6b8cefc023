//! `from`: what `?` makes a variant of that holds a `RequestError<E, R>`.
//!
//! ```text
//! enum ShopError {                       impl From<RequestError<E, R>> for ShopError { .. }
//!     #[retry(from)]                     impl From<E> for ShopError { .. }
//!     Shop(RequestError<E, R>),    ->    impl From<BadStatus<R>> for ShopError { .. }
//! }                                      impl From<GaveUp> for ShopError { .. }
//! ```
//!
//! One impl for each type as it is written: a blanket one, or one of a projection, would meet those of other variants.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Field, Fields, GenericArgument, Ident, Member, PathArguments, Type};

use reattempt_policy::rules::RuleId;
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::item::text;
use reattempt_syntax::model::at;

use super::{functions, keeps_end, members};

/// A variant that is made of what a request fails with.
pub(super) struct Source {
    /// `Self::Shop`, `Self`.
    path: TokenStream,
    name: String,
    member: Member,
    /// The type of the field.
    ty: Type,
    error: Type,
    response: Type,
    /// Another derive makes the variant of the whole `RequestError`.
    has_own: bool,
    /// The word `from`.
    span: Span,
}

impl Source {
    /// Reads the field of a variant; `alias_of` is the type that it stands for.
    pub(super) fn of(
        path: &TokenStream,
        name: &Ident,
        fields: &Fields,
        alias_of: Option<&Type>,
        span: Span,
        faults: &mut Diagnostics,
    ) -> Option<Self> {
        let (Some((member, ty)), Some(field), 1) =
            (members(fields).next(), fields.iter().next(), fields.len())
        else {
            let fault = match fields.len() {
                0 => "`from` makes the variant of its one field, and there is none; write the verdict, such as `#[retry(transient)]`".to_owned(),
                count => format!(
                    "`from` makes the variant of its one field, and there are {count}; write `{}`, and implement `From` by hand",
                    functions::of_one(functions::error_in(fields), fields)
                ),
            };
            faults.push(span, RuleId::S11, fault);
            return None;
        };
        let Some((error, response)) = arguments(alias_of.unwrap_or(ty)) else {
            let fault = match alias_of {
                Some(_) => "`from = ...` is the type that the alias stands for; write `from = RequestError<E, R>`".to_owned(),
                None => format!(
                    "`from` reads `E` and `R` of a `RequestError<E, R>`, which `{}` does not show; if it is an alias write `#[retry(from = RequestError<E, R>)]`, else `#[retry(inherit)]`",
                    text(ty)
                ),
            };
            faults.push(alias_of.map_or(span, Type::span), RuleId::S11, fault);
            return None;
        };
        Some(Self {
            path: path.clone(),
            name: name.to_string(),
            member,
            ty: ty.clone(),
            error,
            response,
            has_own: is_from(field),
            span,
        })
    }

    /// What it is made of, besides the end of a call.
    fn types(&self) -> [String; 3] {
        [
            text(&self.error),
            format!("BadStatus<{}>", text(&self.response)),
            text(&self.ty),
        ]
    }
}

/// The impls of `From`.
pub(super) fn impls(
    sources: &[Source],
    input: &DeriveInput,
    krate: &TokenStream,
    faults: &mut Diagnostics,
) -> TokenStream {
    clashes(sources, &input.data, faults);
    let (name, (generics, arguments, conditions)) = (&input.ident, input.generics.split_for_impl());
    let mut all = TokenStream::new();
    for (index, source) in sources.iter().enumerate() {
        let Source {
            path,
            member,
            ty,
            error,
            response,
            ..
        } = source;
        let span = at(ty.span());
        let mut add = |of: &TokenStream, value: &TokenStream| {
            all.extend(quote_spanned! {span=>
                #[automatically_derived]
                impl #generics ::core::convert::From<#of> for #name #arguments #conditions {
                    fn from(error: #of) -> Self {
                        #path { #member: #value }
                    }
                }
            });
        };
        if !source.has_own {
            add(&ty.to_token_stream(), &quote_spanned!(span=> error));
        }
        add(
            &error.to_token_stream(),
            &quote_spanned!(span=> <#ty>::Transport(error)),
        );
        let bad = quote_spanned!(span=> #krate::http::BadStatus<#response>);
        add(&bad, &quote_spanned!(span=> <#ty>::Status(error)));
        // The end of a call is about no request: the first variant takes it, unless one is for it alone.
        if index == 0 && !keeps_end(&input.data) {
            let end = quote_spanned!(span=> #krate::GaveUp);
            add(&end, &quote_spanned!(span=> <#ty>::GaveUp(error)));
        }
    }
    all
}

/// Two variants that `?` could make of the same error.
fn clashes(sources: &[Source], data: &Data, faults: &mut Diagnostics) {
    let Data::Enum(data) = data else { return };
    let by_others = data.variants.iter().flat_map(|variant| {
        let made = variant.fields.iter().filter(|field| is_from(field));
        made.map(|field| (variant.ident.to_string(), text(&field.ty)))
    });
    let by_others: Vec<_> = by_others.collect();
    for (index, source) in sources.iter().enumerate() {
        let types = source.types();
        let earlier = (sources.iter().take(index))
            .flat_map(|other| other.types().map(|ty| (other.name.clone(), ty)));
        let others = earlier.chain(by_others.iter().cloned());
        let clash = others
            .filter(|(name, _)| *name != source.name)
            .find_map(|(name, other)| {
                let same = types.iter().find(|ty| **ty == other);
                same.map(|ty| (name, ty.clone()))
            });
        if let Some((other, ty)) = clash {
            faults.push(
                source.span,
                RuleId::S11,
                format!(
                    "`?` could make `{other}` or `{}` of `{ty}`; write `inherit` here in place of `from`, and `map_err(...)` where this variant is meant",
                    source.name
                ),
            );
        }
    }
}

/// Whether thiserror, or a derive like it, makes the variant of this field.
fn is_from(field: &Field) -> bool {
    field
        .attrs
        .iter()
        .any(|other| other.path().is_ident("from"))
}

/// `E` and `R` of `RequestError<E, R>`.
fn arguments(ty: &Type) -> Option<(Type, Type)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    match (types.next(), types.next(), types.next()) {
        (Some(error), Some(response), None) if last.ident == "RequestError" => {
            Some((error, response))
        }
        _ => None,
    }
}
