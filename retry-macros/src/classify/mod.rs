//! `#[derive(Classify)]`: the verdict of each variant, checked so that a new
//! variant cannot be forgotten.
//!
//! ```text
//! #[derive(Classify)]                          impl Classify for FetchError {
//! enum FetchError {                                fn classify(&self) -> Verdict {
//!     #[retry(transient)] Timeout,        ->           match self {
//!     #[retry(inherit)] Io(io::Error),                     Self::Timeout { .. } => Transient,
//! }                                                        Self::Io { 0: inner, .. } => inherit(inner),
//! ```

mod advice;
mod from;
mod functions;
mod typed;
mod verdict;
mod words;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{
    Data, DataEnum, DeriveInput, Expr, Fields, Generics, Ident, Member, Pat, PatType, Type,
    Variant, parse_quote,
};

use self::from::Source;
use self::verdict::OnType;
use self::words::{Said, Word};
use reattempt_policy::rules::RuleId;
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::item::text;
use reattempt_syntax::model::at;

pub(crate) fn derive(input: TokenStream) -> TokenStream {
    match syn::parse2(input) {
        Ok(input) => expand(&input),
        Err(error) => Diagnostics::from(error).into_compile_errors(),
    }
}

fn expand(input: &DeriveInput) -> TokenStream {
    let mut faults = Diagnostics::default();
    let of_struct = match &input.data {
        Data::Struct(data) => Some(&data.fields),
        _ => None,
    };
    let on_type = verdict::of_type(&input.attrs, of_struct, &mut faults);
    let krate = if let Some(path) = &on_type.krate {
        ours!(#path)
    } else {
        ours!(::reattempt)
    };
    let mut arms = Arms {
        krate: &krate,
        generics: &input.generics,
        bounds: Vec::new(),
        sources: Vec::new(),
        codes: Vec::new(),
        faults: &mut faults,
    };
    let body = match &input.data {
        Data::Enum(data) => arms.of_variants(data, &on_type),
        Data::Struct(data) => arms.of_struct(&input.ident, &data.fields, &on_type),
        Data::Union(data) => {
            arms.faults.push(
                data.union_token.span,
                RuleId::S11,
                "a union does not know which of its fields is the error; implement `Classify` by hand",
            );
            TokenStream::new()
        }
    };
    if let (Data::Enum(_), Some(said)) = (&input.data, &on_type.own) {
        (arms.faults).push(said.span, RuleId::S11, advice::above_variants(said));
    }
    let (bounds, sources, codes) = (arms.bounds, arms.sources, arms.codes);
    let has_code = (!codes.is_empty()).then(|| {
        // An arm that nothing reaches would need an `allow`, which `forbid` above it refuses.
        let others = (codes.len() < arm_count(&input.data)).then(|| ours!(_ => false,));
        ours! {
            fn has_code(&self, code: &::core::primitive::str) -> ::core::primitive::bool {
                use #krate::__private::{CodeByClassify as _, CodeByText as _, NoCode as _};
                match self {
                    #(#codes)*
                    #others
                }
            }
        }
    });
    let made = from::impls(&sources, input, &krate, &mut faults);
    let (name, (generics, arguments, _)) = (&input.ident, input.generics.split_for_impl());
    let conditions = input
        .generics
        .where_clause
        .as_ref()
        .map(|clause| &clause.predicates);
    let conditions = conditions.into_iter().flatten();
    let conditions: Vec<_> = conditions.collect();
    // A type without a variant for it may have a `From` for every error, which this one would meet.
    let of_layer = (keeps_end(&input.data) || !sources.is_empty()).then(|| {
        ours! {
            /// The last error of a call below, or what `From<GaveUp>` makes of its end.
            // The lifetime makes the condition one that the compiler asks where the impl is used.
            #[automatically_derived]
            impl #generics ::core::convert::From<#krate::RetryError<Self>> for #name #arguments
            where
                #(#conditions,)*
                for<'reattempt> Self: ::core::convert::From<#krate::GaveUp>,
            {
                fn from(error: #krate::RetryError<Self>) -> Self {
                    #krate::RetryError::into_error(error)
                }
            }
        }
    });
    let implemented = |bounds: &[Type], body, has_code| {
        ours! {
            #[automatically_derived]
            impl #generics #krate::Classify for #name #arguments
            where #(#conditions,)* #(#bounds: #krate::Classify,)*
            {
                fn classify(&self) -> #krate::Verdict {
                    #body
                }

                #has_code
            }
        }
    };
    match faults.finish(()) {
        Ok(()) => {
            let judge = implemented(&bounds, body, has_code);
            ours!(#made #of_layer #judge)
        }
        // Else each function that returns the type has an error that says to derive this.
        Err(faults) => {
            let errors = faults.into_compile_errors();
            let judge = implemented(&[], ours!(::core::panic!()), None);
            ours!(#errors #judge)
        }
    }
}

const MENDS: &str = "write `#[retry(transient)]`, `#[retry(permanent)]`, `#[retry(throttled)]`, `#[retry(refused)]` or `#[retry(inherit)]` above it";

struct Arms<'a> {
    krate: &'a TokenStream,
    generics: &'a Generics,
    /// Types that have to be `Classify` for the whole to be.
    bounds: Vec<Type>,
    /// Variants that `?` makes of what a request fails with.
    sources: Vec<Source>,
    /// Whether a variant has a code, of those whose content may say so.
    codes: Vec<TokenStream>,
    faults: &'a mut Diagnostics,
}

impl Arms<'_> {
    fn of_variants(&mut self, data: &DataEnum, on_type: &OnType) -> TokenStream {
        if data.variants.is_empty() {
            return ours!(match *self {});
        }
        let arms = data.variants.iter();
        let all: TokenStream = arms
            .map(|variant| self.of_variant(variant, on_type))
            .collect();
        ours!(match self { #all })
    }

    fn of_variant(&mut self, variant: &Variant, on_type: &OnType) -> TokenStream {
        let name = &variant.ident;
        let said = verdict::of_variant(&variant.attrs, &variant.fields, self.faults);
        let on_field = verdict::on_field(&variant.fields, "variant", name, self.faults);
        if let Some(said) = said.as_ref().or(on_type.default.as_ref()) {
            return self.arm(&ours!(Self::#name), name, said, &variant.fields);
        }
        // What is wrong with its verdict was said.
        let marked = on_field || verdict::meant(&variant.attrs).next().is_some();
        if marked || on_type.is_said {
            return TokenStream::new();
        }
        if let Some((place, text)) = verdict::in_other_words(&variant.attrs) {
            self.faults.push(place, RuleId::S11, text);
        } else {
            self.faults.push(name.span(), RuleId::S11, format!("`{name}` has no verdict; {MENDS}, or `#[retry(default = permanent)]` above the type"));
        }
        TokenStream::new()
    }

    fn of_struct(&mut self, name: &Ident, fields: &Fields, on_type: &OnType) -> TokenStream {
        let on_field = verdict::on_field(fields, "type", name, self.faults);
        if let Some(said) = on_type.own.as_ref().or(on_type.default.as_ref()) {
            let arm = self.arm(&ours!(Self), name, said, fields);
            return ours!(match self { #arm });
        }
        if !on_field && !on_type.is_said {
            self.faults.push(
                name.span(),
                RuleId::S11,
                format!("`{name}` has no verdict; {MENDS}"),
            );
        }
        TokenStream::new()
    }

    fn arm(
        &mut self,
        path: &TokenStream,
        name: &Ident,
        said: &Said,
        fields: &Fields,
    ) -> TokenStream {
        let krate = self.krate;
        match (&said.word, &said.after) {
            (Word::From(alias_of), _) => {
                let alias_of = alias_of.as_deref();
                let source = Source::of(path, name, fields, alias_of, said.span, self.faults);
                let Some(source) = source else {
                    return TokenStream::new();
                };
                self.sources.push(source);
                self.inherited(path, name.span(), said, fields)
            }
            (Word::With(function), _) => self.asked(path, function, said.span, fields),
            (Word::Inherit | Word::Chain(_), _) => self.inherited(path, name.span(), said, fields),
            (word, Some(field)) => self.delayed(path, name, word, field, fields),
            (word, None) => {
                let verdict = word.tokens(krate);
                ours!(#path { .. } => #verdict,)
            }
        }
    }

    /// `after = field`.
    fn delayed(
        &mut self,
        path: &TokenStream,
        name: &Ident,
        word: &Word,
        field: &Member,
        fields: &Fields,
    ) -> TokenStream {
        let Some((_, ty)) = members(fields).find(|(member, _)| member == field) else {
            let list: Vec<_> = members(fields).map(|(member, _)| shown(&member)).collect();
            let list: Vec<_> = list.iter().map(String::as_str).collect();
            let fault = match list.as_slice() {
                [] => format!(
                    "`after` must name a field, and `{name}` has none; {}",
                    advice::fixed_delay(word, &value_of(field))
                ),
                _ => format!(
                    "`after` must name a field; the fields are {}",
                    reattempt_syntax::keys::listed(&list)
                ),
            };
            self.faults.push(field.span(), RuleId::S11, fault);
            return TokenStream::new();
        };
        let verdict = word.tokens(self.krate);
        let krate = self.krate;
        let after = quote_spanned!(at(ty.span())=> #krate::__private::after(after));
        ours!(#path { #field: after, .. } => #krate::Verdict::after(#verdict, #after),)
    }

    /// `with = function`, which gets all fields in their order.
    fn asked(
        &mut self,
        path: &TokenStream,
        function: &Expr,
        place: Span,
        fields: &Fields,
    ) -> TokenStream {
        let krate = self.krate;
        if asks_nothing(function) {
            let verdict =
                quote_spanned!(at(function.span())=> #krate::__private::given((#function)()));
            return ours!(#path { .. } => #verdict,);
        }
        if fields.is_empty() {
            self.faults.push(
                place,
                RuleId::S11,
                "`with` asks a function about the fields, and there is none; write a verdict such as `transient` or `permanent`, or `with = || ...`",
            );
            return TokenStream::new();
        }
        let members: Vec<_> = members(fields).map(|(member, _)| member).collect();
        // What does not fit is the function, not a field.
        let names: Vec<_> = (0..members.len())
            .map(|index| Ident::new(&format!("field{index}"), at(function.span())))
            .collect();
        taken_by_value(function, fields, self.faults);
        self.codes.push(ours! {
            #path { #(#members: #names),* } => {
                #((&&#krate::__private::Field(#names)).reattempt_has_code(code))||*
            }
        });
        let typed = typed::typed(function, fields);
        let verdict =
            quote_spanned!(at(function.span())=> #krate::__private::given((#typed)(#(#names),*)));
        ours!(#path { #(#members: #names),* } => #verdict,)
    }

    /// `inherit`, and `chain(...)`.
    fn inherited(
        &mut self,
        path: &TokenStream,
        place: Span,
        said: &Said,
        fields: &Fields,
    ) -> TokenStream {
        let krate = self.krate;
        let Some((member, ty)) = wrapped(fields) else {
            // A default is said elsewhere; the variant is what it does not fit.
            let span = if said.is_default { place } else { said.span };
            self.faults
                .push(span, RuleId::S11, advice::not_wrapped(&said.word, fields));
            return TokenStream::new();
        };
        let classify = if let Word::Chain(types) = &said.word {
            let list = (types.iter().rev()).fold(ours!(()), |rest, ty| ours!((#ty, #rest)));
            quote_spanned!(at(ty.span())=> #krate::__private::chain::<#list, _, _>(inner))
        } else {
            if mentions(ty, self.generics) {
                self.bounds.push(ty.clone());
            }
            self.codes.push(ours! {
                #path { #member: inner, .. } => {
                    (&&#krate::__private::Coded(inner)).reattempt_has_code(code)
                }
            });
            quote_spanned!(at(ty.span())=> #krate::__private::inherit(inner))
        };
        ours!(#path { #member: inner, .. } => #classify,)
    }
}

/// How many arms a `match` of the type has that names each variant.
fn arm_count(data: &Data) -> usize {
    match data {
        Data::Enum(data) => data.variants.len(),
        Data::Struct(_) | Data::Union(_) => 1,
    }
}

fn members(fields: &Fields) -> impl Iterator<Item = (Member, &Type)> {
    fields.members().zip(fields.iter().map(|field| &field.ty))
}

/// Whether a field is a `GaveUp`.
fn keeps_end(data: &Data) -> bool {
    let Data::Enum(data) = data else { return false };
    let mut fields = data.variants.iter().flat_map(|variant| &variant.fields);
    fields.any(|field| match &field.ty {
        Type::Path(path) => (path.path.segments.last()).is_some_and(|last| last.ident == "GaveUp"),
        _ => false,
    })
}

/// The only field, or of several the one that is the source, as thiserror has it.
fn wrapped(fields: &Fields) -> Option<(Member, &Type)> {
    if fields.len() == 1 {
        return members(fields).next();
    }
    let mut sources = members(fields)
        .zip(fields)
        .filter(|((member, _), field)| {
            matches!(member, Member::Named(name) if name == "source")
                || (field.attrs.iter())
                    .any(|other| other.path().is_ident("source") || other.path().is_ident("from"))
        })
        .map(|(found, _)| found);
    sources.next().filter(|_| sources.next().is_none())
}

/// `|| ...`, which says the same of any content.
fn asks_nothing(function: &Expr) -> bool {
    matches!(function, Expr::Closure(closure) if closure.inputs.is_empty())
}

/// Parameters of a closure that have the type of the field.
fn taken_by_value(function: &Expr, fields: &Fields, faults: &mut Diagnostics) {
    let Expr::Closure(closure) = function else {
        return;
    };
    for (parameter, field) in closure.inputs.iter().zip(fields) {
        let Pat::Type(PatType { pat, ty, .. }) = parameter else {
            continue;
        };
        if !matches!(**ty, Type::Reference(_)) && **ty == field.ty {
            let (pat, shown) = (pat.to_token_stream(), text(ty));
            faults.push(
                ty.span(),
                RuleId::S11,
                format!("`with` gets a reference to each field; write `|{pat}: &{shown}|`"),
            );
        }
    }
}

/// What `after` is set to.
fn value_of(field: &Member) -> Expr {
    parse_quote!(#field)
}

fn shown(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Whether a type depends on the parameters of the error type.
fn mentions(ty: &Type, generics: &Generics) -> bool {
    struct Search<'a>(Vec<&'a Ident>, bool);
    impl syn::visit::Visit<'_> for Search<'_> {
        fn visit_ident(&mut self, ident: &Ident) {
            self.1 |= self.0.contains(&ident);
        }
    }
    let names = generics.type_params().map(|param| &param.ident).collect();
    let mut search = Search(names, false);
    syn::visit::Visit::visit_type(&mut search, ty);
    search.1
}
