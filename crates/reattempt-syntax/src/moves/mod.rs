//! Which parameters a body moves, as far as its syntax shows: the next attempt needs them again.
//!
//! A certain move is one, unless its type is `Copy`, which the compiler is asked. A possible move depends on more than
//! that, such as whether a method takes `self` by value.

mod advice;
mod patterns;
mod walk;
mod ways;
mod words;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;
use syn::{
    Block, Expr, FnArg, Pat, Receiver, ReceiverKind, Signature, Stmt, Token, Type, WherePredicate,
};

pub use self::advice::{message, message_of_unique};
use self::walk::Walk;
pub use self::ways::{SetBy, Way};
use crate::item::{has_word, is_condition, is_one_letter, names};

/// A parameter that is passed by value.
#[derive(Clone)]
pub struct Owned {
    /// Its name, or `self`.
    pub name: Ident,
    /// Its type, except that of `self`.
    ty: Option<Type>,
    /// Its bounds, where only bounds give it methods: `impl Trait`, or a generic parameter.
    bounds: Option<TokenStream>,
    /// How the next attempt can have it.
    way: Way,
    /// The `mut` of its declaration.
    mutability: Option<Token![mut]>,
    /// The `#[cfg(..)]` in front of it.
    conditions: Vec<TokenStream>,
}

/// Where a body moves a parameter, or may move it.
#[derive(Clone)]
pub struct Move {
    /// The parameter.
    pub name: Ident,
    /// What is moved: the parameter, or a field of it.
    pub place: TokenStream,
    /// What moves it.
    pub by: By,
    /// Whether the type of the parameter is certainly not `Copy`.
    pub is_unique: bool,
    /// How the next attempt can have the parameter.
    pub way: Way,
    /// The type of the parameter, where that is a type parameter of the block around the method.
    of_block: Option<String>,
    /// The `mut` of the parameter.
    mutability: Option<Token![mut]>,
    /// Whether an attempt may fail before it.
    pub follows_failure: bool,
    /// Whether a closure or a block that is `move` takes the parameter.
    is_captured: bool,
    /// The `#[cfg(..)]` of the parameter, around the move and in front of it.
    pub conditions: Vec<TokenStream>,
    /// That of the parameter.
    pub declared_under: Vec<TokenStream>,
}

impl Move {
    /// Returns where it is.
    pub fn span(&self) -> Span {
        self.place.span()
    }

    /// Whether the parameter has copies by another signature alone.
    pub(crate) fn needs_bound(&self) -> bool {
        self.way.changes_signature()
    }

    /// Returns the move of a parameter that is a mutable reference, by its type.
    #[must_use]
    pub fn of_reference(&self) -> Self {
        Self {
            way: Way::Reborrowed,
            ..self.clone()
        }
    }
}

/// The name of a parameter as it is declared: `#[async_trait]` calls `self` by another one.
pub fn declared(name: &Ident) -> String {
    let name = name.to_string();
    if name == "__self" {
        "self".to_owned()
    } else {
        name
    }
}

/// What moves a parameter.
#[derive(Debug, Clone)]
pub enum By {
    /// Its value is taken.
    Value,
    /// Patterns, each with the variables that it binds.
    Patterns(Vec<(TokenStream, Vec<Ident>)>),
    /// A call of a method that mostly takes it, such as `url.into_bytes()`.
    Call,
    /// Anything else.
    Other,
}

impl By {
    /// What is known of a value that both of these move.
    fn beside(self, other: Self) -> Self {
        match (self, other) {
            (Self::Patterns(mut all), Self::Patterns(more)) => {
                all.extend(more);
                Self::Patterns(all)
            }
            _ => Self::Other,
        }
    }
}

/// What the body does with parameters.
#[derive(Default)]
pub struct Moves {
    /// The first certain move of each parameter, and of each field.
    pub certain: Vec<Move>,
    /// The likeliest moves of parameters that may be moved as a whole.
    pub possible: Vec<Move>,
    /// Calls that may move a parameter against their names, where nothing else does.
    pub unlikely: Vec<Move>,
    /// Whether something follows a statement that ends the body: what stands there moves nothing.
    pub has_dead_code: bool,
    /// Whether the word `impl` stands in the body.
    pub has_impl: bool,
}

impl Moves {
    /// Counts as possible what is unlikely.
    #[must_use]
    pub fn with_unlikely(mut self) -> Self {
        self.possible.append(&mut self.unlikely);
        self
    }

    /// Counts as possible what is unlikely of values: a method moves no `&mut`.
    #[must_use]
    pub fn with_unlikely_values(mut self) -> Self {
        self.unlikely.retain(|it| it.way != Way::Reborrowed);
        self.with_unlikely()
    }
}

/// Returns the parameters that are passed by value and may not be `Copy`, by the looks of their types.
///
/// There are none in a module with `#![no_implicit_prelude]`: the check of moves needs an attribute
/// of the namespace `diagnostic`, which that module does not have.
pub fn owned(signature: &Signature, body: Option<&Group>) -> Vec<Owned> {
    let body = body.map(Group::stream);
    if may_lack_prelude(&quote::quote!(#signature #body)) {
        return Vec::new();
    }
    let mut owned = Vec::new();
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) => owned.extend(owned_receiver(receiver)),
            FnArg::Typed(typed) => {
                let known = owned.len();
                owned_by(signature, &typed.pat, Some(&typed.ty), &mut owned);
                add_conditions(typed, &mut owned, known);
            }
        }
    }
    owned
}

fn owned_receiver(receiver: &Receiver) -> Option<Owned> {
    let (ty, way) = match &receiver.kind {
        ReceiverKind::Value => (None, Way::Receiver),
        ReceiverKind::Reference(_, _, Some(_)) => (None, Way::Reborrowed),
        ReceiverKind::Typed(_, ty) => (Some((**ty).clone()), Way::of_receiver(ty)?),
        _ => return None,
    };
    Some(Owned {
        name: Ident::new("self", receiver.self_token.span),
        ty,
        bounds: None,
        way,
        mutability: receiver.mutability,
        conditions: Vec::new(),
    })
}

/// Adds the conditions of a pattern to those of its variables, which follow the ones `known` before.
fn add_conditions(pattern: &impl ToTokens, owned: &mut [Owned], known: usize) {
    let conditions = conditions(&pattern.to_token_stream());
    for variable in owned.iter_mut().skip(known) {
        variable.conditions.extend_from_slice(&conditions);
    }
}

/// Adds the variables of a parameter, with their types where the pattern shows them.
fn owned_by(signature: &Signature, pattern: &Pat, ty: Option<&Type>, owned: &mut Vec<Owned>) {
    match (pattern, ty) {
        (Pat::Ident(pat), _) if pat.by_ref.is_some() || pat.subpat.is_some() => {}
        (Pat::Ident(_), Some(ty)) if is_copied(ty) && !is_unique_reference(ty) => {}
        (Pat::Ident(pat), Some(ty)) => owned.push(Owned {
            name: pat.ident.clone(),
            ty: Some(ty.clone()),
            bounds: bounds(signature, ty),
            way: Way::of(signature, ty),
            mutability: pat.mutability,
            conditions: Vec::new(),
        }),
        (Pat::Ident(pat), None) if !is_constant(&pat.ident) => owned.push(Owned {
            name: pat.ident.clone(),
            ty: None,
            bounds: None,
            way: Way::Clone,
            mutability: pat.mutability,
            conditions: Vec::new(),
        }),
        (Pat::Paren(pat), ty) => owned_by(signature, &pat.pat, ty, owned),
        (Pat::Type(pat), _) => owned_by(signature, &pat.pat, Some(&pat.ty), owned),
        (Pat::Tuple(pat), ty) => {
            let types = match ty {
                Some(Type::Tuple(types)) if types.elems.len() == pat.elems.len() => {
                    Some(&types.elems)
                }
                _ => None,
            };
            for (index, pattern) in pat.elems.iter().enumerate() {
                let ty = types.and_then(|types| types.get(index));
                owned_by(signature, pattern, ty, owned);
            }
        }
        (Pat::TupleStruct(pat), _) => {
            for pattern in &pat.elems {
                owned_by(signature, pattern, None, owned);
            }
        }
        (Pat::Struct(pat), _) => {
            for field in &pat.fields {
                let known = owned.len();
                owned_by(signature, &field.pat, None, owned);
                add_conditions(field, owned, known);
            }
        }
        (Pat::Slice(pat), ty) => {
            let ty = match ty {
                Some(Type::Array(array)) => Some(&*array.elem),
                _ => None,
            };
            for pattern in &pat.elems {
                owned_by(signature, pattern, ty, owned);
            }
        }
        _ => {}
    }
}

/// Whether a name in a pattern is a constant, such as `None`.
fn is_constant(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

/// The bounds of a generic parameter, or of an `impl Trait`, also behind a `&mut`.
fn bounds(signature: &Signature, ty: &Type) -> Option<TokenStream> {
    match ty {
        Type::Reference(reference) if reference.mutability.is_some() => {
            bounds(signature, &reference.elem)
        }
        Type::ImplTrait(bounds) => Some(bounds.bounds.to_token_stream()),
        Type::Path(path) => bounds_of(signature, path.path.get_ident()?),
        _ => None,
    }
}

/// The bounds of a generic parameter.
pub(crate) fn bounds_of(signature: &Signature, name: &Ident) -> Option<TokenStream> {
    let mut params = signature.generics.type_params();
    let mut found = params
        .find(|param| param.ident == *name)?
        .bounds
        .to_token_stream();
    let predicates = signature.generics.where_clause.iter();
    for predicate in predicates.flat_map(|clause| &clause.predicates) {
        if let WherePredicate::Type(predicate) = predicate
            && matches!(&predicate.bounded_ty, Type::Path(ty) if ty.path.is_ident(name))
        {
            predicate.bounds.to_tokens(&mut found);
        }
    }
    Some(found)
}

/// Whether only what expects a `&mut` borrows it anew: a generic parameter moves it.
const fn is_unique_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if reference.mutability.is_some())
}

/// Whether values of a type are certainly copied, or reborrowed.
fn is_copied(ty: &Type) -> bool {
    const NAMES: &[&str] = &[
        "bool", "char", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64",
        "i128", "isize", "f32", "f64", "Duration", "Instant",
    ];
    match ty {
        Type::Reference(_) | Type::Ptr(_) | Type::Never(_) => true,
        Type::Group(group) => is_copied(&group.elem),
        Type::Paren(paren) => is_copied(&paren.elem),
        Type::Array(array) => is_copied(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().all(is_copied),
        Type::Path(path) => {
            (path.path.get_ident()).is_some_and(|name| NAMES.contains(&&*name.to_string()))
        }
        _ => false,
    }
}

/// Returns the variables of statements in front of the block that is retried: what moves one lacks it the next time.
pub fn in_front(signature: &Signature, statements: &[Stmt]) -> Vec<Owned> {
    let mut found = Vec::new();
    for statement in statements {
        let Stmt::Local(local) = statement else {
            continue;
        };
        let known = found.len();
        owned_by(signature, &local.pat, None, &mut found);
        let has_type = local.init.as_ref().is_some_and(|init| has_type(&init.expr));
        for owned in found.iter_mut().skip(known) {
            if owned.way != Way::Reborrowed {
                owned.way = Way::InFront;
            }
            if has_type {
                owned.ty.get_or_insert(syn::parse_quote!(_));
            }
        }
    }
    found
}

/// Whether a value has a type before anything uses it: neither a closure nor what makes whatever is wanted.
fn has_type(value: &Expr) -> bool {
    const WORDS: &[&str] = &[
        "Default",
        "None",
        "async",
        "collect",
        "default",
        "into",
        "parse",
        "sum",
        "unwrap_or_default",
    ];
    let value = value.to_token_stream();
    let is_bar = |it: TokenTree| matches!(it, TokenTree::Punct(it) if it.as_char() == '|');
    !WORDS.iter().any(|it| has_word(&value, it)) && !value.into_iter().any(is_bar)
}

/// Finds what a body does with `owned`.
pub fn find(body: &TokenStream, owned: &[Owned]) -> Moves {
    let formatted = words::formatted(body);
    let is_used = |owned: &&Owned| names(body, &owned.name) || formatted.contains(&owned.name);
    let owned: Vec<_> = owned.iter().filter(is_used).collect();
    if owned.is_empty() {
        return Moves::default();
    }
    let mut walk = Walk::new(owned, body);
    match Block::parse_within.parse2(body.clone()) {
        Ok(statements) => walk.statements(&statements),
        Err(_) => walk.hidden_by(body),
    }
    walk.found()
}

/// Whether tokens contain a path such as `::core::option::Option`, but no bare name of the prelude.
/// Attributes such as `#[async_trait]` write such paths too, but they keep the user's names.
pub(crate) fn may_lack_prelude(tokens: &TokenStream) -> bool {
    const CRATES: &[&str] = &["alloc", "core", "std"];
    const PRELUDE: &[&str] = &[
        "AsMut",
        "AsRef",
        "Box",
        "Clone",
        "Copy",
        "Default",
        "DoubleEndedIterator",
        "Drop",
        "Eq",
        "Err",
        "ExactSizeIterator",
        "Extend",
        "Fn",
        "FnMut",
        "FnOnce",
        "From",
        "FromIterator",
        "Future",
        "Into",
        "IntoFuture",
        "IntoIterator",
        "Iterator",
        "None",
        "Ok",
        "Option",
        "Ord",
        "PartialEq",
        "PartialOrd",
        "Result",
        "Send",
        "Sized",
        "Some",
        "String",
        "Sync",
        "ToOwned",
        "ToString",
        "TryFrom",
        "TryInto",
        "Unpin",
        "Vec",
    ];
    let is_absolute = |name: &str, is_start: bool| !is_start && CRATES.contains(&name);
    let is_bare = |name: &str, is_start: bool| is_start && PRELUDE.contains(&name);
    any_name(tokens, &is_absolute) && !any_name(tokens, &is_bare)
}

/// Whether `test` holds for a name among the tokens, given whether nothing with `::` or `.` is in
/// front of it.
pub(crate) fn any_name(tokens: &TokenStream, test: &impl Fn(&str, bool) -> bool) -> bool {
    let (mut last, mut previous) = (' ', ' ');
    tokens.clone().into_iter().any(|token| {
        let (found, next) = match &token {
            TokenTree::Ident(name) => {
                let is_part = last == '.' && previous != '.' || (last, previous) == (':', ':');
                (test(&name.to_string(), !is_part), ' ')
            }
            TokenTree::Group(group) => (any_name(&group.stream(), test), ' '),
            TokenTree::Punct(punct) => (false, punct.as_char()),
            TokenTree::Literal(_) => (false, ' '),
        };
        (previous, last) = (last, next);
        found
    })
}

/// The conditions among the attributes in front of the tokens.
pub(crate) fn conditions(tokens: &TokenStream) -> Vec<TokenStream> {
    let mut tokens = tokens.clone().into_iter();
    let mut found = Vec::new();
    while let (Some(TokenTree::Punct(sign)), Some(TokenTree::Group(group))) =
        (tokens.next(), tokens.next())
        && sign.as_char() == '#'
        && group.delimiter() == Delimiter::Bracket
    {
        if is_condition(&group) {
            found.push(quote::quote!(#sign #group));
        }
    }
    found
}

/// Methods that take what reads or writes by value.
const ADAPTERS: &[&str] = &[
    "bytes",
    "chain",
    "compat",
    "compat_write",
    "lines",
    "split",
    "take",
];

impl Owned {
    /// Whether its fields are certainly its own, not those of what it points to.
    fn has_own_fields(&self) -> bool {
        !matches!(self.type_name().as_deref(), Some("Arc" | "Rc"))
    }

    /// Whether a call uses it up.
    fn is_called_once(&self) -> bool {
        let (ty, bounds) = (&self.ty, &self.bounds);
        has_word(&quote::quote!(#ty #bounds), "FnOnce")
    }

    /// Whether it may be called again, by its type.
    fn is_called_again(&self) -> bool {
        let (ty, bounds) = (&self.ty, &self.bounds);
        let all = quote::quote!(#ty #bounds);
        let kinds = ["Fn", "FnMut", "AsyncFn", "AsyncFnMut"];
        kinds.iter().any(|kind| has_word(&all, kind)) && !has_word(&all, "FnOnce")
    }

    /// Whether what names it in a `move` closure takes it away.
    pub(crate) fn is_moved_by_name(&self) -> bool {
        let is_unique_self =
            self.name == "self" && self.ty.is_none() && self.way == Way::Reborrowed;
        self.conditions.is_empty() && (is_unique_self || self.is_unique())
    }

    /// Whether its type is certainly not `Copy`.
    fn is_unique(&self) -> bool {
        const NAMES: &[&str] = &[
            "Arc", "BTreeMap", "BTreeSet", "Box", "HashMap", "HashSet", "PathBuf", "Rc", "String",
            "Vec", "VecDeque",
        ];
        match &self.bounds {
            Some(bounds) => !has_word(bounds, "Copy"),
            None => self.type_name().is_some_and(|name| NAMES.contains(&&*name)),
        }
    }

    /// Its type, where that is by custom a type parameter, and none of the function.
    fn of_block(&self) -> Option<String> {
        let Some(Type::Path(path)) = self.ty.as_ref().filter(|_| self.bounds.is_none()) else {
            return None;
        };
        let name = path.path.get_ident().filter(|it| is_one_letter(it));
        name.map(ToString::to_string)
    }

    fn type_name(&self) -> Option<String> {
        match self.ty.as_ref()? {
            Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
            _ => None,
        }
    }

    /// How the next attempt can have it where this method takes it.
    fn way_of_call(&self, method: &str) -> Way {
        match &self.way {
            Way::InPlace => Way::InPlaceCalled(self.reborrowed_in(method)),
            way => way.clone(),
        }
    }

    /// What to write for a call of a method that takes what reads: of a `&mut` it is found only where its trait is
    /// imported.
    fn reborrowed_in(&self, method: &str) -> String {
        let name = &self.name;
        let text = ways::written(&self.bounds);
        let mut paths = text.split(|it: char| it == '+' || it.is_whitespace());
        let of_buffers = matches!(method, "lines" | "split");
        let found = paths.find_map(|path| {
            let module =
                (path.strip_suffix("::Read")).or_else(|| path.strip_suffix("::BufRead"))?;
            let name = if of_buffers { "BufRead" } else { "Read" };
            Some(format!("{module}::{name}"))
        });
        match found {
            Some(path) if matches!(method, "bytes" | "lines") => {
                format!("{path}::{method}(&mut {name})")
            }
            Some(path) => format!("{path}::{method}(&mut {name}, ..)"),
            None => format!("(&mut {name})"),
        }
    }

    /// Whether a method of a type of the standard library takes it by value.
    fn is_taken_by(&self, method: &str) -> bool {
        let methods: &[&str] = match self.type_name().as_deref() {
            Some("String") => &["into", "into_boxed_str", "into_bytes"],
            Some("Vec") => &["into", "into_boxed_slice", "into_iter"],
            Some("PathBuf") => &["into", "into_boxed_path", "into_os_string"],
            Some("HashMap" | "BTreeMap") => &["into_iter", "into_keys", "into_values"],
            Some("HashSet" | "BTreeSet" | "VecDeque") => &["into_iter"],
            // Other senders send more than once.
            Some("Sender") if has_word(&self.ty.to_token_stream(), "oneshot") => &["send"],
            Some("Option") => &[
                "and",
                "and_then",
                "expect",
                "filter",
                "flatten",
                "into_iter",
                "is_none_or",
                "is_some_and",
                "map",
                "map_or",
                "map_or_else",
                "ok_or",
                "ok_or_else",
                "or",
                "or_else",
                "unwrap",
                "unwrap_or",
                "unwrap_or_default",
                "unwrap_or_else",
                "zip",
            ],
            _ if self.bounds.is_some() => &["into", "into_iter"],
            _ => &[],
        };
        // What reads or writes, by its bounds.
        let adapts = self.bounds.is_some() && matches!(self.way, Way::InPlace | Way::Caller);
        adapts && ADAPTERS.contains(&method) || methods.contains(&method)
    }
}

#[cfg(test)]
mod tests;
