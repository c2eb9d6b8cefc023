//! What an answer may hold, by its type: lifetimes, and the parameters that have them.

use proc_macro2::{Ident, Span};
use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{
    CapturedParam, FnArg, GenericArgument, Lifetime, Pat, ReceiverKind, Signature, Type,
    TypeParamBound,
};

use crate::item::{generics, has_word, is_one_letter, names};
use crate::moves::{any_name, bounds_of};

/// The lifetimes in an answer.
pub(super) struct Held {
    pub(super) named: Vec<Ident>,
    pub(super) is_elided: bool,
    /// The lifetimes at a `&mut`; none where it is elided.
    pub(super) unique: Vec<Option<Ident>>,
    /// Whether it is `Self`, with the lifetimes of the `impl` block, or a part of it.
    pub(super) is_self: bool,
    /// Whether it is a type that a trait gives, such as `Self::Compound`.
    pub(super) is_of_trait: bool,
    /// The names of types beside a lifetime, as `R` in `Page<'a, R>`.
    pub(super) beside: Vec<Ident>,
    /// Those that only the bound of a type parameter names: `T: Deserialize<'a>`.
    pub(super) by_bound: Vec<Ident>,
    /// The lifetimes of the function.
    pub(super) own: Vec<Ident>,
}

impl Held {
    pub(super) fn by(answer: &Type, signature: &Signature) -> Self {
        let own = signature.generics.lifetimes();
        let mut held = Self {
            named: Vec::new(),
            is_elided: false,
            unique: Vec::new(),
            is_self: false,
            is_of_trait: false,
            beside: Vec::new(),
            by_bound: Vec::new(),
            own: own.map(|it| it.lifetime.ident.clone()).collect(),
        };
        held.visit_type(answer);
        held.outlived_by(signature);
        if held.named.is_empty() && !held.is_elided {
            held.by_bounds(answer, signature);
        }
        held
    }

    /// Adds the lifetimes that are longer than one of these, as `'b` is in `'b: 'a`.
    fn outlived_by(&mut self, signature: &Signature) {
        let longer = signature.generics.lifetimes().filter(|it| {
            let mut bounds = it.bounds.iter();
            bounds.any(|bound| self.names(Some(bound)))
        });
        let longer: Vec<_> = longer.map(|it| it.lifetime.ident.clone()).collect();
        self.named.extend(longer);
    }

    /// Finds the lifetimes that a type parameter in the answer may hold.
    fn by_bounds(&mut self, answer: &Type, signature: &Signature) {
        let answer = answer.to_token_stream();
        for param in signature.generics.type_params() {
            let bounds = bounds_of(signature, &param.ident).unwrap_or_default();
            if names(&answer, &param.ident) {
                let own = self.own.iter().filter(|it| names(&bounds, it));
                self.by_bound.extend(own.cloned());
            }
        }
        self.named.extend_from_slice(&self.by_bound);
    }

    /// Whether it names a lifetime of the `impl` block.
    fn is_of_block(&self) -> bool {
        let mut named = self.named.iter();
        named.any(|it| it != "static" && !self.own.contains(it))
    }

    pub(super) fn is_unique(&self) -> bool {
        !self.unique.is_empty()
    }

    pub(super) fn names(&self, lifetime: Option<&Lifetime>) -> bool {
        lifetime.is_some_and(|it| {
            // Both may have those of the `impl` block.
            let is_hidden = self.is_self || self.is_of_trait;
            self.named.contains(&it.ident) || is_hidden && !self.own.contains(&it.ident)
        })
    }

    /// Whether it holds a type parameter that this parameter alone has: the answer is made of that.
    pub(super) fn is_brought_by(&self, source: &Borrowed, signature: &Signature) -> bool {
        let own = generics(signature);
        let is_meant = |name: &Ident| {
            // What is neither of the function nor of the other parameters comes with `self`.
            let has_it = |it: &FnArg| names(&it.to_token_stream(), name);
            let mut inputs = signature.inputs.iter().filter(|it| has_it(it));
            match inputs.next() {
                Some(only) => {
                    inputs.next().is_none() && names(&only.to_token_stream(), &source.name)
                }
                None => source.name == "self" && is_one_letter(name) && !own.contains(name),
            }
        };
        let mut beside = self.beside.iter();
        beside.any(|name| (own.contains(name) || is_one_letter(name)) && is_meant(name))
    }

    /// The only parameter that a `&mut` in the answer, or what a bound lets it hold, can come from.
    pub(super) fn only_source<'b>(&self, borrowed: &'b [Borrowed]) -> Option<&'b Borrowed> {
        let lifetime = match &*self.unique {
            [lifetime] => lifetime.as_ref(),
            [] => Some(self.by_bound.first()?),
            _ => return None,
        };
        let mut sources = borrowed.iter().filter(|it| match lifetime {
            Some(named) => it.lifetime.as_ref() == Some(named),
            None => !it.is_receiver_by_value,
        });
        let source = sources.next()?;
        sources.next().is_none().then_some(source)
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
        if reference.mutability.is_some() {
            let named = reference.lifetime.as_ref().map(|it| it.ident.clone());
            self.unique.push(named.filter(|name| name != "_"));
        }
        visit::visit_type_reference(self, reference);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        // What they are in most traits holds no borrow.
        const OWNED: &[&str] = &["Err", "Error", "Item", "Ok", "Output", "Response", "Value"];
        let mut segments = path.segments.iter();
        if segments.next().is_some_and(|first| first.ident == "Self") {
            match segments.next() {
                None => self.is_self = true,
                Some(name) => self.is_of_trait |= !OWNED.contains(&&*name.ident.to_string()),
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_angle_bracketed_generic_arguments(
        &mut self,
        arguments: &'ast syn::AngleBracketedGenericArguments,
    ) {
        let is_lifetime = |it: &GenericArgument| matches!(it, GenericArgument::Lifetime(_));
        if arguments.args.iter().any(is_lifetime) {
            let named = arguments.args.iter().filter_map(|it| match it {
                GenericArgument::Type(Type::Path(it)) => it.path.get_ident().cloned(),
                _ => None,
            });
            self.beside.extend(named);
        }
        visit::visit_angle_bracketed_generic_arguments(self, arguments);
    }

    // `<&mut Self as Trait>::Error` holds no such reference.
    fn visit_qself(&mut self, _: &'ast syn::QSelf) {}

    // What a function takes has lifetimes of its own.
    fn visit_parenthesized_generic_arguments(
        &mut self,
        _: &'ast syn::ParenthesizedGenericArguments,
    ) {
    }
    fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}
}

/// Whether an answer is a `Cow`, which may own what it holds.
pub(super) fn may_be_owned(answer: &Type) -> bool {
    has_word(&answer.to_token_stream(), "Cow")
}

/// Whether a type is an `impl Trait` that names what it borrows.
pub(super) fn is_opaque(answer: &Type) -> bool {
    struct Opaque(bool);
    impl<'ast> Visit<'ast> for Opaque {
        fn visit_type_impl_trait(&mut self, ty: &'ast syn::TypeImplTrait) {
            self.0 |= ty.bounds.iter().any(|bound| match bound {
                TypeParamBound::Lifetime(lifetime) => lifetime.ident != "static",
                TypeParamBound::PreciseCapture(captured) => {
                    let mut params = captured.params.iter();
                    params.any(|it| matches!(it, CapturedParam::Lifetime(_)))
                }
                _ => false,
            });
        }
    }
    let mut opaque = Opaque(false);
    opaque.visit_type(answer);
    opaque.0
}

/// Whether a type of an answer has such a lifetime, as `Page<'a>` has one.
pub(super) fn has_lifetime_argument(answer: &Type, is_meant: fn(&Lifetime) -> bool) -> bool {
    struct Arguments(fn(&Lifetime) -> bool, bool);
    impl<'ast> Visit<'ast> for Arguments {
        fn visit_generic_argument(&mut self, argument: &'ast GenericArgument) {
            self.1 |= matches!(argument, GenericArgument::Lifetime(it) if self.0(it));
            visit::visit_generic_argument(self, argument);
        }
    }
    let mut arguments = Arguments(is_meant, false);
    arguments.visit_type(answer);
    arguments.1
}

/// Whether an answer holds one borrow, a `&` to what is hardly a constant.
pub(super) fn is_reference(answer: &Type) -> bool {
    #[derive(Default)]
    struct Borrows {
        all: usize,
        references: usize,
    }
    impl<'ast> Visit<'ast> for Borrows {
        fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
            const CONSTANT: &[&str] = &["str", "CStr", "OsStr", "Path"];
            let is_constant = match &*reference.elem {
                Type::Path(to) => to.path.segments.last().is_none_or(|last| {
                    let mut names = CONSTANT.iter();
                    names.any(|name| last.ident == name)
                }),
                Type::Slice(_) => false,
                _ => true,
            };
            if reference.mutability.is_none() && !is_constant {
                self.references = self.references.saturating_add(1);
            }
            self.all = self.all.saturating_add(1);
            self.visit_type(&reference.elem);
        }
        fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
            if lifetime.ident != "static" {
                self.all = self.all.saturating_add(1);
            }
        }
    }
    let mut borrows = Borrows::default();
    borrows.visit_type(answer);
    (borrows.all, borrows.references) == (1, 1)
}

/// A parameter that is a unique reference, or a `self` that may be one, and that the answer may hold.
pub(super) struct Borrowed {
    pub(super) name: Ident,
    pub(super) lifetime: Option<Ident>,
    /// Whether the answer names its lifetime.
    pub(super) is_named: bool,
    pub(super) is_receiver_by_value: bool,
    /// Whether what it points to has no lifetime, as far as its type shows: what the answer borrows is a part of that.
    pub(super) is_owned: bool,
}

pub(super) fn borrowed_parameters(signature: &Signature, held: &Held) -> Vec<Borrowed> {
    let receiver = signature.receiver();
    let is_borrowed = receiver.is_some_and(|receiver| match &receiver.kind {
        ReceiverKind::Reference(..) => true,
        ReceiverKind::Typed(_, ty) => matches!(&**ty, Type::Reference(_)),
        _ => false,
    });
    let borrow = |name: Ident, lifetime: Option<&Lifetime>, may_be_elided: bool| {
        let is_named = held.names(lifetime);
        (is_named || held.is_elided && may_be_elided).then(|| Borrowed {
            name,
            lifetime: lifetime.map(|it| it.ident.clone()),
            is_named,
            is_receiver_by_value: false,
            is_owned: false,
        })
    };
    let inputs = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Receiver(receiver) => {
            let name = Ident::new("self", receiver.self_token.span);
            let lifetime = match &receiver.kind {
                ReceiverKind::Reference(_, lifetime, Some(_)) => lifetime.as_ref(),
                ReceiverKind::Typed(_, ty) => match &**ty {
                    Type::Reference(it) if it.mutability.is_some() => it.lifetime.as_ref(),
                    _ => return None,
                },
                ReceiverKind::Value if held.is_of_trait || held.is_of_block() => {
                    return Some(Borrowed {
                        name,
                        lifetime: None,
                        is_named: false,
                        is_receiver_by_value: true,
                        is_owned: false,
                    });
                }
                _ => return None,
            };
            borrow(name, lifetime, true)
        }
        FnArg::Typed(typed) => match (&*typed.pat, &*typed.ty) {
            (Pat::Ident(name), Type::Reference(it))
                if it.mutability.is_some() && name.by_ref.is_none() =>
            {
                let borrowed = borrow(name.ident.clone(), it.lifetime.as_ref(), !is_borrowed);
                borrowed.map(|borrowed| Borrowed {
                    is_owned: is_owned(&it.elem, signature),
                    ..borrowed
                })
            }
            _ => None,
        },
    });
    inputs.collect()
}

/// Whether a type shows no lifetime and nothing that may hold one.
pub(super) fn is_owned(ty: &Type, signature: &Signature) -> bool {
    let mut generics = generics(signature);
    generics.extend(["Self", "impl", "dyn"].map(|word| Ident::new(word, Span::call_site())));
    let tokens = ty.to_token_stream();
    let has_lifetime = tokens.to_string().contains('\'') || matches!(ty, Type::Reference(_));
    let is_hidden = |name: &str, _| generics.iter().any(|it| it == name) || name.len() == 1;
    !has_lifetime && !any_name(&tokens, &is_hidden)
}
