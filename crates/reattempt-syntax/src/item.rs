//! The function under the attribute: attributes, visibility, signature, and a
//! body that is kept as it was written. Also the questions about its signature.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Expr, ExprClosure, FnArg, GenericArgument, Ident, Path, PathArguments, ReceiverKind,
    ReturnType, Signature, Token, Type, TypeParamBound, Visibility,
};

/// A function as written.
pub struct Function {
    /// In front of it, without the one that is expanded.
    pub attributes: Vec<Attribute>,
    /// `pub`, or nothing.
    pub visibility: Visibility,
    /// From `fn` to the braces.
    pub signature: Signature,
    /// The braces; `None` for a declaration.
    pub body: Option<Group>,
    /// Whether the policy is that of the `impl` block around it: messages about a method then name it.
    pub in_block: bool,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        let end = input.parse::<TokenTree>()?;
        let body = match braces(&end) {
            Some(group) => Some(group),
            None if matches!(&end, TokenTree::Punct(end) if end.as_char() == ';') => None,
            None => {
                return Err(syn::Error::new(
                    end.span(),
                    "expected the body of the function",
                ));
            }
        };
        Ok(Self {
            attributes,
            visibility,
            signature,
            body,
            in_block: false,
        })
    }
}

/// The braces of a body; a macro's `$body:block` comes in an invisible group.
pub fn braces(token: &TokenTree) -> Option<Group> {
    let TokenTree::Group(group) = token else {
        return None;
    };
    match group.delimiter() {
        Delimiter::Brace => Some(group.clone()),
        Delimiter::None => {
            let mut inside = group.stream().into_iter();
            let only = inside.next()?;
            inside.next().is_none().then(|| braces(&only)).flatten()
        }
        _ => None,
    }
}

/// What a function answers, as far as its signature tells.
#[derive(Clone)]
pub enum Answer {
    /// `Result<T, E>`, or a name that ends in `Result`.
    Result(Type),
    /// `Result<T, RetryError<E>>`: the type that the body speaks, and the answer.
    RetryError(Box<Type>, Type),
    /// `Option<T>`.
    Option(Type),
    /// A type that is certainly neither.
    Other(Type),
    /// An alias, a parameter: the compiler will tell.
    Unknown(Type),
    /// The block of a macro that names no type.
    Inferred,
}

impl Answer {
    /// By the looks of a type.
    pub fn of(ty: &Type) -> Self {
        let ty = bare(ty);
        let Type::Path(path) = ty else {
            return match ty {
                Type::Infer(_) => Self::Inferred,
                Type::Macro(_) => Self::Unknown(ty.clone()),
                _ => Self::Other(ty.clone()),
            };
        };
        let Some(last) = path.path.segments.last() else {
            return Self::Unknown(ty.clone());
        };
        let name = last.ident.to_string();
        match name.as_str() {
            "Option" => Self::Option(ty.clone()),
            _ if name.ends_with("Result") => match spoken(ty) {
                Some(spoken) => Self::RetryError(Box::new(spoken), ty.clone()),
                None => Self::Result(ty.clone()),
            },
            _ if is_plain(&name) && path.path.segments.len() == 1 => Self::Other(ty.clone()),
            _ => Self::Unknown(ty.clone()),
        }
    }

    /// The type of what the body answers; `_` where it cannot be written.
    pub fn spoken(&self) -> TokenStream {
        match self {
            Self::RetryError(ty, _) => nameable(ty).into_token_stream(),
            Self::Result(ty) | Self::Option(ty) | Self::Other(ty) | Self::Unknown(ty) => {
                nameable(ty).into_token_stream()
            }
            Self::Inferred => quote!(_),
        }
    }

    /// The type of the answer, where only the compiler can say whether its error is a `RetryError`: behind an alias, or
    /// under that name or another one with a parameter. One that cannot be written in full goes by its name.
    pub fn to_ask(&self) -> Option<&Type> {
        let (Self::RetryError(_, ty) | Self::Result(ty) | Self::Unknown(ty)) = self else {
            return None;
        };
        let certain = matches!(self, Self::Result(ty) if is_plain_result(ty));
        (!certain && !has_hole(nameable(ty).into_token_stream())).then_some(ty)
    }

    /// The last name of the type of the error that the body speaks, as far as it is written.
    pub fn error_name(&self) -> Option<String> {
        let ty = match self {
            Self::RetryError(ty, _) => &**ty,
            Self::Result(ty) => ty,
            _ => return None,
        };
        let Type::Path(path) = bare(ty) else {
            return None;
        };
        let mut names = path.path.segments.iter().rev();
        let mut arguments = type_arguments(&path.path).skip(1);
        match arguments.next().map(bare) {
            Some(Type::Path(error)) => Some(error.path.segments.last()?.ident.to_string()),
            Some(_) => None,
            None => names
                .nth(1)
                .filter(|it| it.ident == "io")
                .map(|_| "Error".to_owned()),
        }
    }

    /// Whether the error holds another one, going by its name: `anyhow::Result`, `eyre::Report`, `Box<dyn Error>`.
    pub fn holds_error(&self) -> bool {
        match self {
            Self::RetryError(ty, _) => holds_error(ty),
            Self::Result(ty) | Self::Unknown(ty) => holds_error(ty),
            Self::Option(_) | Self::Other(_) | Self::Inferred => false,
        }
    }

    /// `: T` for a binding of what the whole function answers, with `_` for what cannot be written.
    pub fn annotation(&self) -> Option<TokenStream> {
        self.written().map(|ty| quote!(: #ty))
    }

    /// What the whole function answers, with `_` for what cannot be written.
    pub fn written(&self) -> Option<TokenStream> {
        self.ty().map(|ty| nameable(ty).into_token_stream())
    }

    /// What the whole function answers.
    pub fn ty(&self) -> Option<&Type> {
        match self {
            Self::RetryError(_, ty)
            | Self::Result(ty)
            | Self::Option(ty)
            | Self::Other(ty)
            | Self::Unknown(ty) => Some(ty),
            Self::Inferred => None,
        }
    }

    /// Where an error about the answer belongs: at its error type if there is one.
    pub fn error_span(&self) -> Option<Span> {
        Some(self.error().or_else(|| self.ty())?.span())
    }

    /// The error type, where it is written.
    pub fn error(&self) -> Option<&Type> {
        match self.ty()? {
            Type::Path(path) => type_arguments(&path.path).nth(1),
            _ => None,
        }
    }
}

/// A type in a message.
pub fn text(ty: &Type) -> String {
    let tokens = ty.to_token_stream().to_string();
    let close = [
        (" < ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("& ", "&"),
        (" :: ", "::"),
    ];
    close
        .iter()
        .fold(tokens, |text, (wide, close)| text.replace(wide, close))
}

/// Without the groups that macros put around a type.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        _ => ty,
    }
}

/// Whether a value of a type is certainly neither a function nor a `Result`.
pub(crate) fn is_plain_type(ty: &Type) -> bool {
    match bare(ty) {
        Type::Reference(reference) => is_plain_type(&reference.elem),
        Type::Tuple(_) | Type::Array(_) | Type::Slice(_) => true,
        Type::Path(path) => {
            (path.path.get_ident().map(ToString::to_string)).is_some_and(|name| {
                // What these point to may be a function.
                is_plain(&name) && !matches!(&*name, "Box" | "Rc" | "Arc")
            }) || path
                .path
                .segments
                .last()
                .is_some_and(|last| last.ident == "Vec" || last.ident == "Option")
        }
        _ => false,
    }
}

/// Single-segment names that are certainly neither `Result` nor `Option`.
fn is_plain(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "bool", "char", "str", "String", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16",
        "i32", "i64", "i128", "isize", "f32", "f64", "Vec", "Box", "Rc", "Arc", "HashMap",
        "HashSet", "BTreeMap", "BTreeSet",
    ];
    NAMES.contains(&name)
}

/// Whether it is one of std's aliases, or a `Result` whose error has no parameter that is the error of the body.
fn is_plain_result(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let mut segments = path.path.segments.iter().rev();
    let is_result = segments.next().is_some_and(|last| last.ident == "Result");
    let is_of_std = segments
        .next()
        .is_some_and(|of| of.ident == "io" || of.ident == "fmt");
    let is_plain_error =
        type_arguments(&path.path)
            .nth(1)
            .is_some_and(|error| match bare(error) {
                Type::Path(error) => error.path.segments.last().is_none_or(|last| {
                    last.arguments.is_empty() || is_plain(&last.ident.to_string())
                }),
                _ => true,
            });
    is_result && (is_of_std || is_plain_error)
}

/// `Result<T, E>` for `Result<T, RetryError<E>>`.
fn spoken(ty: &Type) -> Option<Type> {
    let mut spoken = ty.clone();
    let Type::Path(path) = &mut spoken else {
        return None;
    };
    let last = path.path.segments.last_mut()?;
    let PathArguments::AngleBracketed(arguments) = &mut last.arguments else {
        return None;
    };
    let error = arguments.args.iter_mut().nth(1)?;
    let GenericArgument::Type(ty) = error else {
        return None;
    };
    let Type::Path(failed) = bare(ty) else {
        return None;
    };
    if failed.path.segments.last()?.ident != "RetryError" {
        return None;
    }
    let inner = type_arguments(&failed.path).next()?.clone();
    *error = GenericArgument::Type(inner);
    Some(spoken)
}

/// Whether the error of an answer is a box, or of a crate whose errors are boxes.
fn holds_error(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let error = type_arguments(&path.path).nth(1).unwrap_or(ty);
    let is_holder = |name: &Ident| name == "anyhow" || name == "eyre" || name == "color_eyre";
    match bare(error) {
        Type::Path(error) if error.path.segments.iter().any(|of| is_holder(&of.ident)) => true,
        error => is_dyn_error(error),
    }
}

/// Whether it is `Box<dyn Error + ...>`, or another pointer to one.
fn is_dyn_error(ty: &Type) -> bool {
    match bare(ty) {
        Type::Path(path) => type_arguments(&path.path).any(is_dyn_error),
        Type::TraitObject(object) => object.bounds.iter().any(|bound| match bound {
            TypeParamBound::Trait(bound) => {
                let last = bound.path.segments.last();
                last.is_some_and(|last| last.ident == "Error")
            }
            _ => false,
        }),
        _ => false,
    }
}

pub(crate) fn type_arguments(path: &Path) -> impl Iterator<Item = &Type> {
    let arguments = path.segments.last().map(|segment| &segment.arguments);
    let arguments = match arguments {
        Some(PathArguments::AngleBracketed(arguments)) => Some(&arguments.args),
        _ => None,
    };
    arguments
        .into_iter()
        .flatten()
        .filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
}

/// `impl Trait` has no name inside the function: `_` stands for it there.
fn nameable(ty: &Type) -> Type {
    struct Erase;
    impl syn::visit_mut::VisitMut for Erase {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            if let Type::ImplTrait(bounds) = ty {
                *ty = Type::Infer(syn::parse_quote_spanned!(bounds.impl_token.span=> _));
            } else {
                syn::visit_mut::visit_type_mut(self, ty);
            }
        }
    }
    let mut named = ty.clone();
    syn::visit_mut::VisitMut::visit_type_mut(&mut Erase, &mut named);
    named
}

/// How the function comes to its answer.
pub enum Flow {
    /// It returns it.
    Sync,
    /// `async fn`.
    Async,
    /// It returns a future: boxed (`Pin<Box<dyn Future>>`) or not.
    Future {
        /// Whether it is boxed.
        boxed: bool,
    },
}

/// The flow of a function, and the type it or its future answers with.
pub fn flow(signature: &Signature) -> (Flow, Option<Type>) {
    let output = match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some((**ty).clone()),
    };
    if signature.asyncness.is_some() {
        return (Flow::Async, output);
    }
    match output.as_ref().and_then(|ty| future(bare(ty))) {
        Some((answer, boxed)) => (Flow::Future { boxed }, Some(answer)),
        None => (Flow::Sync, output),
    }
}

/// The answer of a type that is a future by its looks.
fn future(ty: &Type) -> Option<(Type, bool)> {
    match ty {
        Type::ImplTrait(ty) => output_of(&ty.bounds).map(|answer| (answer, false)),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            match last.ident.to_string().as_str() {
                // `Pin<Box<dyn Future<Output = T>>>`
                "Pin" => match bare(type_arguments(&path.path).next()?) {
                    Type::Path(inner) => match bare(type_arguments(&inner.path).next()?) {
                        Type::TraitObject(object) => {
                            output_of(&object.bounds).map(|answer| (answer, true))
                        }
                        _ => None,
                    },
                    _ => None,
                },
                // The aliases of `futures`.
                "BoxFuture" | "LocalBoxFuture" => type_arguments(&path.path)
                    .next()
                    .map(|answer| (answer_of_alias(ty, answer), true)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The answer of an alias with the argument `answer`. One of the user's own may make a `Result` of that: where the
/// argument is none, or is a `QueryResult`, which may be one, the compiler is asked.
fn answer_of_alias(future: &Type, answer: &Type) -> Type {
    let is_result = matches!(bare(answer), Type::Path(path) if path.path.segments.last().is_some_and(|it| it.ident == "Result"));
    match Answer::of(answer) {
        Answer::RetryError(..) => answer.clone(),
        Answer::Result(_) if is_result => answer.clone(),
        _ => syn::parse_quote_spanned!(answer.span()=> <#future as ::core::future::Future>::Output),
    }
}

/// `T` of a bound `Future<Output = T>`.
fn output_of(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Option<Type> {
    bounds
        .into_iter()
        .filter_map(|bound| match bound {
            TypeParamBound::Trait(bound) => bound.path.segments.last(),
            _ => None,
        })
        .filter(|segment| segment.ident == "Future")
        .find_map(|segment| match &segment.arguments {
            PathArguments::AngleBracketed(arguments) => {
                arguments.args.iter().find_map(|argument| match argument {
                    GenericArgument::AssocType(assoc) if assoc.ident == "Output" => {
                        Some(assoc.ty.clone())
                    }
                    _ => None,
                })
            }
            _ => None,
        })
}

/// The names that the parameters bind, `self` included, each with whether it is `mut`.
pub fn parameters(signature: &Signature) -> Vec<(Ident, bool)> {
    struct Names(Vec<(Ident, bool)>);
    impl<'ast> syn::visit::Visit<'ast> for Names {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            self.0.push((pat.ident.clone(), pat.mutability.is_some()));
            syn::visit::visit_pat_ident(self, pat);
        }
    }
    let mut names = Names(Vec::new());
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                let name = Ident::new("self", receiver.self_token.span);
                names.0.push((name, receiver.mutability.is_some()));
            }
            FnArg::Typed(typed) => syn::visit::Visit::visit_pat(&mut names, &typed.pat),
        }
    }
    names.0
}

/// The names of the generic parameters, lifetimes left out.
pub fn generics(signature: &Signature) -> Vec<Ident> {
    let types = signature.generics.type_params().map(|param| &param.ident);
    let constants = signature.generics.const_params().map(|param| &param.ident);
    types.chain(constants).cloned().collect()
}

/// `N`, `T`: by custom a generic parameter.
pub fn is_one_letter(ident: &Ident) -> bool {
    let name = ident.to_string();
    name.len() == 1 && name.starts_with(|letter: char| letter.is_uppercase())
}

/// Takes `mut` from the parameters that each attempt clones: their clones have it.
pub fn without_mut(signature: &mut Signature, cloned: &[(Ident, bool)]) {
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(receiver) if matches!(receiver.kind, ReceiverKind::Reference(..)) => {}
            FnArg::Receiver(receiver) => {
                if cloned.iter().any(|(name, _)| name == "self") {
                    receiver.mutability = None;
                }
            }
            FnArg::Typed(typed) => {
                if let syn::Pat::Ident(pat) = &mut *typed.pat
                    && cloned.iter().any(|(name, _)| *name == pat.ident)
                {
                    pat.mutability = None;
                }
            }
        }
    }
}

/// Returns the names of the parameters that are shared references and always the same one, `self` too.
pub fn shared(signature: &Signature) -> Vec<Ident> {
    let is_shared = |ty: &Type| matches!(bare(ty), Type::Reference(reference) if reference.mutability.is_none());
    let names = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Receiver(receiver) => {
            let is_shared = match &receiver.kind {
                ReceiverKind::Reference(_, _, mutability) => mutability.is_none(),
                ReceiverKind::Typed(_, ty) => is_shared(ty) && receiver.mutability.is_none(),
                _ => false,
            };
            is_shared.then(|| Ident::new("self", receiver.self_token.span))
        }
        FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Ident(name) if name.mutability.is_none() && name.by_ref.is_none() => {
                is_shared(&typed.ty).then(|| name.ident.clone())
            }
            _ => None,
        },
    });
    names.collect()
}

/// Makes the parameters that are passed by value `mut` and returns their names, `self` too: what an attempt may borrow so
/// that nobody else can meanwhile. A reference is one anyway, and `unless` says which are not meant.
pub fn made_mut(signature: &mut Signature, unless: impl Fn(&Ident) -> bool) -> Vec<Ident> {
    let mut names = Vec::new();
    let mut make = |name: &Ident, mutability: &mut Option<Token![mut]>| {
        if !unless(name) {
            mutability.get_or_insert(Token![mut](name.span()));
            names.push(name.clone());
        }
    };
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                let is_owned = match &receiver.kind {
                    ReceiverKind::Value => true,
                    ReceiverKind::Typed(_, ty) => !matches!(bare(ty), Type::Reference(_)),
                    _ => false,
                };
                if is_owned {
                    let name = Ident::new("self", receiver.self_token.span);
                    make(&name, &mut receiver.mutability);
                }
            }
            FnArg::Typed(typed) if is_there_sometimes(typed) => {}
            FnArg::Typed(typed) => each_owned(&mut typed.pat, &typed.ty, &mut make),
        }
    }
    names
}

/// Whether `#[cfg]` or `#[cfg_attr]` stands somewhere among the tokens.
pub(crate) fn has_condition(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => is_condition(&group) || has_condition(&group.stream()),
        _ => false,
    })
}

/// Whether it is `[cfg(..)]` or `[cfg_attr(..)]`.
pub(crate) fn is_condition(group: &Group) -> bool {
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket
        && matches!(first, Some(TokenTree::Ident(word)) if word == "cfg" || word == "cfg_attr")
}

/// Whether a parameter, or a part of it, has a condition, and may not be named where nobody repeats that.
pub(crate) fn is_there_sometimes(typed: &syn::PatType) -> bool {
    has_condition(&typed.to_token_stream())
}

/// Visits the names of a pattern that certainly bind by value: nothing of type `ty` around them is a reference.
fn each_owned(
    pattern: &mut syn::Pat,
    ty: &Type,
    visit: &mut impl FnMut(&Ident, &mut Option<Token![mut]>),
) {
    let mut field = |pattern: &mut syn::Pat| {
        if let syn::Pat::Ident(bound) = pattern
            && bound.by_ref.is_none()
            && bound.subpat.is_none()
        {
            visit(&bound.ident, &mut bound.mutability);
        }
    };
    // A type of the name of the pattern is no alias of a reference.
    let is_named = |path: &Path| match bare(ty) {
        Type::Path(named) => path
            .get_ident()
            .is_some_and(|name| named.path.is_ident(name)),
        _ => false,
    };
    match pattern {
        syn::Pat::Ident(bound)
            if bound.by_ref.is_none() && !matches!(bare(ty), Type::Reference(_)) =>
        {
            visit(&bound.ident, &mut bound.mutability);
        }
        syn::Pat::Struct(fields) if is_named(&fields.path) => {
            (fields.fields.iter_mut()).for_each(|named| field(&mut named.pat));
        }
        syn::Pat::TupleStruct(fields) if is_named(&fields.path) => {
            fields.elems.iter_mut().for_each(field);
        }
        syn::Pat::Tuple(tuple) => {
            if let Type::Tuple(types) = bare(ty) {
                // A `..` would leave the others without their types.
                if types.elems.len() == tuple.elems.len() {
                    for (pattern, ty) in tuple.elems.iter_mut().zip(&types.elems) {
                        each_owned(pattern, ty, visit);
                    }
                }
            }
        }
        syn::Pat::Paren(inner) => each_owned(&mut inner.pat, ty, visit),
        _ => {}
    }
}

/// Whether `name` is among the tokens.
pub fn names(tokens: &TokenStream, name: &Ident) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => names(&group.stream(), name),
        _ => false,
    })
}

/// Whether the tokens contain this word.
pub fn has_word(tokens: &TokenStream, word: &str) -> bool {
    names(tokens, &Ident::new(word, Span::call_site()))
}

/// Splits the inner attributes (`#![...]`) off a body.
#[expect(clippy::disallowed_methods, reason = "three have been matched")]
pub fn inner_attributes(body: TokenStream) -> (Vec<TokenStream>, TokenStream) {
    let mut attributes = Vec::new();
    let mut rest: Vec<TokenTree> = body.into_iter().collect();
    while let [
        TokenTree::Punct(hash),
        TokenTree::Punct(bang),
        TokenTree::Group(group),
        ..,
    ] = rest.as_slice()
    {
        if hash.as_char() != '#' || bang.as_char() != '!' {
            break;
        }
        attributes.push(quote!(#hash #group));
        rest.drain(..3);
    }
    (attributes, rest.into_iter().collect())
}

/// Whether an attribute is one of ours.
pub fn is_retry(attribute: &Attribute) -> bool {
    attribute
        .path()
        .segments
        .last()
        .is_some_and(|last| last.ident == "retry")
}

/// Whether one of ours hides behind a condition, where the policy of a block
/// cannot tell what it will be.
pub fn hides_retry(attribute: &Attribute) -> bool {
    fn mentions(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == "retry",
            TokenTree::Group(group) => mentions(group.stream()),
            _ => false,
        })
    }
    attribute.path().is_ident("cfg_attr")
        && matches!(&attribute.meta, syn::Meta::List(list) if mentions(list.tokens.clone()))
}

/// What an attribute stands on.
pub enum Kind {
    /// A function or a method.
    Function,
    /// An `impl` block.
    Impl,
    /// Anything else, and where it begins.
    Other(Span),
}

/// What kind of item the tokens are, by the words in front of its name.
pub fn kind(tokens: &TokenStream) -> Kind {
    fn probe(input: ParseStream<'_>) -> syn::Result<Kind> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        let rest: TokenStream = input.parse()?;
        let words = rest.clone().into_iter().take_while(|token| !is_end(token));
        let word = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(ident) if ident == word);
        // The first of the two words: `impl Trait for fn()` has both.
        let found = words.into_iter().find_map(|token| match &token {
            token if word(token, "fn") => Some(Kind::Function),
            token if word(token, "impl") => Some(Kind::Impl),
            _ => None,
        });
        Ok(found.unwrap_or_else(|| Kind::Other(rest.span())))
    }
    syn::parse::Parser::parse2(probe, tokens.clone()).unwrap_or_else(|_| Kind::Other(tokens.span()))
}

/// What cannot stand between the words in front of an item.
fn is_end(token: &TokenTree) -> bool {
    match token {
        TokenTree::Punct(punct) => !matches!(punct.as_char(), '<' | '>' | ','),
        TokenTree::Group(_) => true,
        TokenTree::Ident(ident) => {
            ident == "struct"
                || ident == "enum"
                || ident == "mod"
                || ident == "trait"
                || ident == "static"
                || ident == "let"
        }
        TokenTree::Literal(_) => false,
    }
}

/// Whether a type has a `_` in it.
fn has_hole(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "_",
        TokenTree::Punct(punct) => punct.as_char() == '_',
        TokenTree::Group(group) => has_hole(group.stream()),
        TokenTree::Literal(_) => false,
    })
}

/// Whether a constant needs what an item in the function cannot see: `Self`,
/// `generics`, or `T::NAME`, where a single capital is by custom a parameter.
pub fn mentions(tokens: &TokenStream, generics: &[Ident]) -> bool {
    let mut tokens = tokens.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        let starts_path =
            matches!(tokens.peek(), Some(TokenTree::Punct(colon)) if colon.as_char() == ':');
        let found = match token {
            TokenTree::Ident(ident) => {
                ident == "Self"
                    || generics.contains(&ident)
                    || (starts_path && is_one_letter(&ident))
            }
            TokenTree::Group(group) => mentions(&group.stream(), generics),
            // A lifetime.
            TokenTree::Punct(quote) if quote.as_char() == '\'' => {
                !matches!(tokens.peek(), Some(TokenTree::Ident(name)) if name == "static" || name == "_")
            }
            _ => false,
        };
        if found {
            return true;
        }
    }
    false
}

/// The closure that an expression is, whatever stands around it.
pub fn closure_of(code: &Expr) -> Option<&ExprClosure> {
    match code {
        Expr::Closure(closure) => Some(closure),
        Expr::Group(group) => closure_of(&group.expr),
        Expr::Paren(paren) => closure_of(&paren.expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::parse::Parser as _;

    use super::*;

    #[test]
    fn a_retry_hides_behind_any_number_of_conditions() {
        for (code, hides) in [
            ("#[cfg_attr(test, retry)]", true),
            ("#[cfg_attr(test, inline, reattempt::retry(never))]", true),
            ("#[cfg_attr(test, cfg_attr(unix, retry(max = 3)))]", true),
            ("#[cfg_attr(test, cfg_attr(unix, inline))]", false),
            ("#[retry(never)]", false),
        ] {
            let attributes = Attribute::parse_outer.parse_str(code).expect("attributes");
            assert!(
                attributes.iter().all(|it| hides_retry(it) == hides),
                "{code}"
            );
        }
    }
}
