//! Types as far as they are written down: of fields, parameters, variables and answers. Enough to see which method a
//! call means in most code; what is not certain has no type.

use std::collections::{HashMap, HashSet};

use syn::ext::IdentExt as _;
use syn::{
    Expr, FnArg, GenericArgument, Generics, ImplItem, Item, PathArguments, ReturnType, Signature,
    TraitItem, Type, TypeParamBound, WherePredicate,
};

use crate::code::modules::Code;

/// What the items of a workspace say, by the last names of types.
#[derive(Default)]
pub(crate) struct Types {
    /// `(Shop, orders)` -> `Orders`
    fields: HashMap<(String, String), String>,
    /// `(Orders, connect)` -> `Orders`
    answers: HashMap<(String, String), String>,
    /// `client` -> `Client`; nothing where functions of this name do not agree.
    functions: HashMap<String, Option<String>>,
    /// The traits of a type.
    traits: HashMap<String, HashSet<String>>,
    /// Errors that are made of a limit that ended a call: `impl From<GaveUp> for ...`
    limited: HashSet<String>,
}

/// Types through which a method is called as if they were not there.
const TRANSPARENT: &[&str] = &[
    "Arc",
    "Box",
    "Cow",
    "LazyLock",
    "Lazy",
    "Mutex",
    "MutexGuard",
    "OnceCell",
    "OnceLock",
    "Option",
    "Pin",
    "Rc",
    "RefCell",
    "Result",
    "RwLock",
];

/// Methods that answer with what they are called on.
const HANDS_ON: &[&str] = &[
    "as_mut",
    "as_ref",
    "borrow",
    "borrow_mut",
    "clone",
    "cloned",
    "expect",
    "get_mut",
    "lock",
    "read",
    "to_owned",
    "unwrap",
    "unwrap_or_default",
    "write",
];

/// Calls of calls that are followed: each of a long chain asks for those before it.
const DEPTH: usize = 50;

impl Types {
    pub(crate) fn of(code: &Code) -> Self {
        let mut types = Self::default();
        for written in code.modules.iter().flat_map(|module| &module.items) {
            types.item(&written.item);
        }
        types
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Fn(item) => self.function(&item.sig),
            // `#[derive(Classify)]` writes that of a variant with `#[retry(from)]`.
            Item::Enum(item) => {
                let attributes = item.variants.iter().flat_map(|it| &it.attrs);
                if attributes.into_iter().any(is_from) {
                    self.limited.insert(item.ident.to_string());
                }
            }
            Item::Struct(item) => {
                let bounds = bounds(&item.generics);
                for field in &item.fields {
                    if let (Some(name), Some(ty)) = (&field.ident, hint(&field.ty, &bounds, None)) {
                        self.fields
                            .insert((item.ident.to_string(), name.unraw().to_string()), ty);
                    }
                }
            }
            Item::Impl(item) => {
                let Some(owner) = hint(&item.self_ty, &HashMap::new(), None) else {
                    return;
                };
                if let Some((path, _)) = &item.trait_
                    && let Some(last) = path.segments.last()
                {
                    if last.ident == "From" && names(&last.arguments, "GaveUp") {
                        self.limited.insert(owner.clone());
                    }
                    self.traits
                        .entry(owner.clone())
                        .or_default()
                        .insert(last.ident.to_string());
                }
                for part in &item.items {
                    if let ImplItem::Fn(method) = part {
                        self.method(&owner, &method.sig);
                    }
                }
            }
            Item::Trait(item) => {
                for part in &item.items {
                    if let TraitItem::Fn(method) = part {
                        self.method(&item.ident.to_string(), &method.sig);
                    }
                }
            }
            _ => {}
        }
    }

    fn function(&mut self, signature: &Signature) {
        let answer = match &signature.output {
            ReturnType::Type(_, ty) => hint(ty, &bounds(&signature.generics), None),
            ReturnType::Default => None,
        };
        let known = self.functions.entry(signature.ident.unraw().to_string());
        let known = known.or_insert_with(|| answer.clone());
        if *known != answer {
            *known = None;
        }
    }

    fn method(&mut self, owner: &str, signature: &Signature) {
        if let ReturnType::Type(_, ty) = &signature.output
            && let Some(ty) = hint(ty, &bounds(&signature.generics), Some(owner))
        {
            self.answers
                .insert((owner.to_owned(), signature.ident.unraw().to_string()), ty);
        }
    }

    /// Whether an error of this name can tell that a limit has ended the call.
    pub(crate) fn reports_limits(&self, error: &str) -> bool {
        ["RetryError", "RequestError", "Option"].contains(&error) || self.limited.contains(error)
    }

    /// The traits that a type implements.
    pub(crate) fn traits(&self, ty: &str) -> impl Iterator<Item = &str> {
        self.traits
            .get(ty)
            .into_iter()
            .flatten()
            .map(String::as_str)
    }

    /// The type of an expression, where `variables` are known; `owner` is `Self`.
    pub(crate) fn expression(
        &self,
        expr: &Expr,
        variables: &Variables,
        owner: Option<&str>,
    ) -> Option<String> {
        self.within(expr, variables, owner, DEPTH)
    }

    fn within(
        &self,
        expr: &Expr,
        variables: &Variables,
        owner: Option<&str>,
        depth: usize,
    ) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let inner = |expr: &Expr| self.within(expr, variables, owner, depth);
        match expr {
            Expr::Path(path) => {
                let name = path.path.get_ident()?.unraw().to_string();
                if name == "self" {
                    return owner.map(ToOwned::to_owned);
                }
                variables.get(&name)?.clone()
            }
            Expr::Field(field) => {
                let syn::Member::Named(name) = &field.member else {
                    return None;
                };
                self.fields
                    .get(&(inner(&field.base)?, name.unraw().to_string()))
                    .cloned()
            }
            Expr::Reference(it) => inner(&it.expr),
            Expr::Paren(it) => inner(&it.expr),
            Expr::Group(it) => inner(&it.expr),
            Expr::Unary(it) => inner(&it.expr),
            Expr::Await(it) => inner(&it.base),
            Expr::Try(it) => inner(&it.expr),
            Expr::MethodCall(call) => {
                let receiver = inner(&call.receiver)?;
                let name = call.method.unraw().to_string();
                let answer = self.answers.get(&(receiver.clone(), name.clone())).cloned();
                answer.or_else(|| HANDS_ON.contains(&name.as_str()).then_some(receiver))
            }
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else {
                    return None;
                };
                let mut names = path
                    .path
                    .segments
                    .iter()
                    .rev()
                    .map(|it| it.ident.unraw().to_string());
                let method = names.next()?;
                let ty = match names.next() {
                    Some(ty) if ty.starts_with(char::is_uppercase) => ty,
                    // A closure hides a function of its name.
                    None if variables.contains_key(&method) => return None,
                    _ => return self.functions.get(&method)?.clone(),
                };
                let ty = if ty == "Self" { owner?.to_owned() } else { ty };
                if TRANSPARENT.contains(&ty.as_str()) {
                    return inner(call.args.first()?);
                }
                let answer = self.answers.get(&(ty.clone(), method)).cloned();
                Some(answer.unwrap_or(ty))
            }
            Expr::Struct(it) => {
                let name = it.path.segments.last()?.ident.to_string();
                if name == "Self" {
                    owner.map(ToOwned::to_owned)
                } else {
                    Some(name)
                }
            }
            _ => None,
        }
    }
}

/// Whether an attribute is `#[retry(from)]` or `#[retry(from = ...)]`.
fn is_from(attribute: &syn::Attribute) -> bool {
    let is_word = |word: &proc_macro2::TokenTree| word.to_string() == "from";
    let list = attribute.meta.require_list().ok();
    attribute.path().is_ident("retry")
        && list.is_some_and(|list| list.tokens.clone().into_iter().any(|it| is_word(&it)))
}

/// Whether a type of this name is among the arguments of another.
fn names(arguments: &PathArguments, name: &str) -> bool {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return false;
    };
    arguments.args.iter().any(|it| match it {
        GenericArgument::Type(ty) => hint(ty, &HashMap::new(), None).is_some_and(|it| it == name),
        _ => false,
    })
}

/// Variables and their types; `None` where it is not written down.
pub(crate) type Variables = HashMap<String, Option<String>>;

/// The parameters of a function.
pub(crate) fn parameters(signature: &Signature, owner: Option<&str>) -> Variables {
    let bounds = bounds(&signature.generics);
    let mut variables = Variables::new();
    for input in &signature.inputs {
        if let FnArg::Typed(typed) = input
            && let syn::Pat::Ident(name) = &*typed.pat
        {
            variables.insert(
                name.ident.unraw().to_string(),
                hint(&typed.ty, &bounds, owner),
            );
        }
    }
    variables
}

/// The first trait of each type parameter, or the type that it has by default.
pub(crate) fn bounds(generics: &Generics) -> HashMap<String, String> {
    let mut all = HashMap::new();
    for parameter in generics.type_params() {
        let default = || hint(&parameter.default.as_ref()?.1, &HashMap::new(), None);
        if let Some(name) = parameter
            .bounds
            .iter()
            .find_map(first_trait)
            .or_else(default)
        {
            all.insert(parameter.ident.to_string(), name);
        }
    }
    for predicate in generics.where_clause.iter().flat_map(|it| &it.predicates) {
        if let WherePredicate::Type(predicate) = predicate
            && let Type::Path(path) = &predicate.bounded_ty
            && let (Some(name), Some(bound)) = (
                path.path.get_ident(),
                predicate.bounds.iter().find_map(first_trait),
            )
        {
            all.insert(name.to_string(), bound);
        }
    }
    all
}

fn first_trait(bound: &TypeParamBound) -> Option<String> {
    match bound {
        TypeParamBound::Trait(bound) => {
            let name = bound.path.segments.last()?.ident.to_string();
            let is_marker = ["Send", "Sync", "Sized", "Clone", "Copy", "Debug", "Unpin"]
                .contains(&name.as_str());
            (!is_marker).then_some(name)
        }
        _ => None,
    }
}

/// What the methods of an `impl` block have in front of their names, as the runtime says it: the type without references
/// and generics, or the trait where the type has no name.
pub(crate) fn title(item: &syn::ItemImpl) -> Option<String> {
    let of_trait = item
        .trait_
        .as_ref()
        .and_then(|(path, _)| path.segments.last());
    let parameter = |name: &syn::Ident| item.generics.type_params().any(|it| it.ident == *name);
    let mut ty = &*item.self_ty;
    let name = loop {
        break match ty {
            Type::Reference(it) => {
                ty = &it.elem;
                continue;
            }
            Type::Paren(it) => {
                ty = &it.elem;
                continue;
            }
            Type::Group(it) => {
                ty = &it.elem;
                continue;
            }
            Type::TraitObject(it) => it.bounds.iter().find_map(first_trait),
            Type::Path(path) if path.path.get_ident().is_some_and(parameter) => None,
            Type::Path(path) => path
                .path
                .segments
                .last()
                .map(|last| last.ident.unraw().to_string()),
            _ => None,
        };
    };
    // A small letter begins the name of a function, too, so only `as Trait` tells.
    let is_told = |name: &String| of_trait.is_some() || name.starts_with(char::is_uppercase);
    name.filter(is_told)
        .or_else(|| of_trait.map(|last| last.ident.unraw().to_string()))
}

/// The last name of a type, without references and boxes; of a type parameter and of `impl Trait` the trait.
pub(crate) fn hint(
    ty: &Type,
    bounds: &HashMap<String, String>,
    owner: Option<&str>,
) -> Option<String> {
    match ty {
        Type::Reference(it) => hint(&it.elem, bounds, owner),
        Type::Paren(it) => hint(&it.elem, bounds, owner),
        Type::Group(it) => hint(&it.elem, bounds, owner),
        Type::ImplTrait(it) => it.bounds.iter().find_map(first_trait),
        Type::TraitObject(it) => it.bounds.iter().find_map(first_trait),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let name = last.ident.to_string();
            if name == "Self" {
                return owner.map(ToOwned::to_owned);
            }
            if TRANSPARENT.contains(&name.as_str()) || name.ends_with("Result") {
                let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                    return None;
                };
                return arguments.args.iter().find_map(|it| match it {
                    GenericArgument::Type(ty) => hint(ty, bounds, owner),
                    _ => None,
                });
            }
            Some(bounds.get(&name).cloned().unwrap_or(name))
        }
        _ => None,
    }
}
