//! Answers that hold a unique borrow of a parameter: the next attempt would need the same borrow.
//!
//! The signature shows which parameters an answer may borrow, the body which of them it certainly does. Where only types
//! tell, the compiler is asked whether an attempt needs a unique borrow at all.

use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, FnArg, Lifetime, Pat, ReceiverKind, Signature, Type};

use self::walk::{Bound, Walk};
use crate::item::names;

mod walk;

/// What a body does with a parameter that its answer may borrow.
#[derive(Debug, Clone)]
pub struct Escape {
    /// The parameter.
    pub name: Ident,
    /// Where the body borrows it for the answer.
    pub place: TokenStream,
    /// Whether the borrow is certainly a unique one.
    pub is_certain: bool,
}

/// Returns the first borrow that an answer of this type takes out of an attempt.
pub fn find(signature: &Signature, answer: &Type, body: &TokenStream) -> Option<Escape> {
    let held = Held::by(answer);
    let mut borrowed = borrowed_parameters(signature, &held);
    // What is compiled only sometimes may not be what answers.
    if borrowed.is_empty() || names(body, &Ident::new("cfg", Span::call_site())) {
        return None;
    }
    let statements = Block::parse_within.parse2(body.clone()).ok()?;
    let mut bound = Bound(Vec::new());
    for statement in &statements {
        bound.visit_stmt(statement);
    }
    borrowed.retain(|it| !bound.0.contains(&it.name));
    let mut walk = Walk {
        borrowed: &borrowed,
        unique: held.is_unique,
        found: Vec::new(),
    };
    walk.answer_of(&statements);
    for statement in &statements {
        walk.visit_stmt(statement);
    }
    let found = walk.found;
    // Another parameter that is changed would answer for those that are not certain.
    let is_alone = |it: &&Escape| is_alone(signature, it, &borrowed);
    let certain = found.iter().find(|it| it.is_certain);
    certain.or_else(|| found.iter().find(is_alone)).cloned()
}

/// The lifetimes in an answer.
struct Held {
    named: Vec<Ident>,
    is_elided: bool,
    /// Whether one stands at a `&mut`.
    is_unique: bool,
}

impl Held {
    fn by(answer: &Type) -> Self {
        let mut held = Self {
            named: Vec::new(),
            is_elided: false,
            is_unique: false,
        };
        held.visit_type(answer);
        held
    }

    fn names(&self, lifetime: Option<&Lifetime>) -> bool {
        lifetime.is_some_and(|it| self.named.contains(&it.ident))
    }
}

impl<'ast> Visit<'ast> for Held {
    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident == "_" {
            self.is_elided = true;
        } else {
            self.named.push(lifetime.ident.clone());
        }
    }

    fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
        self.is_elided |= reference.lifetime.is_none();
        self.is_unique |= reference.mutability.is_some();
        visit::visit_type_reference(self, reference);
    }

    // What a function takes has lifetimes of its own.
    fn visit_parenthesized_generic_arguments(
        &mut self,
        _: &'ast syn::ParenthesizedGenericArguments,
    ) {
    }
}

/// A parameter that is a unique reference, and that the answer may hold.
struct Borrowed {
    name: Ident,
    /// Whether the answer names its lifetime.
    is_named: bool,
}

fn borrowed_parameters(signature: &Signature, held: &Held) -> Vec<Borrowed> {
    let receiver = signature.receiver();
    let is_borrowed = receiver.is_some_and(|receiver| match &receiver.kind {
        ReceiverKind::Reference(..) => true,
        ReceiverKind::Typed(_, ty) => matches!(&**ty, Type::Reference(_)),
        _ => false,
    });
    let inputs = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Receiver(receiver) => {
            let lifetime = match &receiver.kind {
                ReceiverKind::Reference(_, lifetime, Some(_)) => lifetime.as_ref(),
                ReceiverKind::Typed(_, ty) => match &**ty {
                    Type::Reference(it) if it.mutability.is_some() => it.lifetime.as_ref(),
                    _ => return None,
                },
                _ => return None,
            };
            let name = Ident::new("self", receiver.self_token.span);
            let is_named = held.names(lifetime);
            (is_named || held.is_elided).then_some(Borrowed { name, is_named })
        }
        FnArg::Typed(typed) => match (&*typed.pat, &*typed.ty) {
            (Pat::Ident(name), Type::Reference(it))
                if it.mutability.is_some() && name.by_ref.is_none() =>
            {
                let is_named = held.names(it.lifetime.as_ref());
                let is_elided = held.is_elided && !is_borrowed;
                let name = name.ident.clone();
                (is_named || is_elided).then_some(Borrowed { name, is_named })
            }
            _ => None,
        },
    });
    inputs.collect()
}

/// Whether nothing but its parameter, and those that are borrowed beside it, can be what an attempt changes.
fn is_alone(signature: &Signature, escape: &Escape, borrowed: &[Borrowed]) -> bool {
    signature.inputs.iter().all(|input| {
        let other = match input {
            FnArg::Receiver(receiver) => Ident::new("self", receiver.self_token.span),
            FnArg::Typed(typed) => match &*typed.pat {
                Pat::Ident(name) => name.ident.clone(),
                _ => return false,
            },
        };
        let is_beside = borrowed.iter().any(|it| it.name == other) && names(&escape.place, &other);
        other == escape.name || is_beside || is_shared(input)
    })
}

/// Whether an attempt can only read it.
fn is_shared(input: &FnArg) -> bool {
    match input {
        FnArg::Receiver(receiver) => match &receiver.kind {
            ReceiverKind::Reference(_, _, mutability) => mutability.is_none(),
            _ => false,
        },
        FnArg::Typed(typed) => match (&*typed.pat, &*typed.ty) {
            (Pat::Ident(name), ty) if name.mutability.is_none() => match ty {
                Type::Reference(it) => it.mutability.is_none(),
                Type::Path(path) => {
                    let last = path.path.segments.last();
                    last.is_some_and(|last| last.arguments.is_empty())
                        && path.path.get_ident().is_some_and(is_plain)
                }
                _ => false,
            },
            _ => false,
        },
    }
}

fn is_plain(name: &Ident) -> bool {
    const NAMES: &[&str] = &[
        "bool", "char", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64",
        "i128", "isize", "f32", "f64", "String",
    ];
    NAMES.contains(&&*name.to_string())
}

impl Escape {
    /// Returns where it is.
    pub fn span(&self) -> Span {
        self.place.span()
    }

    /// Returns what is said of it.
    pub fn message(&self) -> String {
        let name = &self.name;
        format!(
            "the answer borrows `{name}` by `&mut`, and the next attempt needs the same borrow; return an owned value, or retry a part of the body with `retry_block!` and borrow behind it"
        )
    }
}
