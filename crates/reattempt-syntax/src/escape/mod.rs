//! Answers that hold a unique borrow of a parameter: the next attempt would need the same borrow.
//!
//! The signature shows which parameters an answer may borrow, the body which of them it certainly does. Where only types
//! tell, the compiler is asked: of the answer alone, in front of the body, if it names no variable of the body; else of the
//! whole body, which is a closure in a sync function, and a copy in one in an async function.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{
    Block, CapturedParam, Expr, FnArg, GenericArgument, Lifetime, Pat, PathArguments, ReceiverKind,
    Signature, Stmt, Type, TypeParamBound,
};

use self::walk::{Bound, Found, How, Walk};
use crate::item::{has_word, names};
use crate::moves::{bounds_of, declared};
use crate::rename::self_to;
use crate::tokens::is_error;

mod flow;
mod walk;

/// What a body does with a parameter that its answer may borrow.
#[derive(Debug, Clone)]
pub struct Escape {
    /// The parameter.
    pub name: Ident,
    /// Where the body borrows it for the answer.
    pub place: TokenStream,
    /// What says that the borrow is a unique one.
    pub proof: Proof,
    /// Of a shared borrow of what the attempt may need by `&mut`, the fields on the way to it: one that is a reference is
    /// borrowed for longer.
    pub shared: Option<Vec<TokenStream>>,
    /// Whether an attempt may fail in a statement before it.
    pub follows_failure: bool,
}

/// What says that a borrow is a unique one.
#[derive(Debug, Clone)]
pub enum Proof {
    /// The source.
    Certain,
    /// The compiler, asked whether the body borrows anything uniquely.
    Body,
    /// The compiler, asked whether this answer does, in which these other parameters are used.
    Answer(TokenStream, Vec<Ident>),
    /// The compiler, asked whether one of these is a mutable reference: `self`, or fields that become parts of the answer.
    Held(Vec<TokenStream>),
}

/// Returns the first borrow that an answer of this type takes out of an attempt.
pub fn find(
    signature: &Signature,
    answer: &Type,
    body: &TokenStream,
    cloned: &[Ident],
) -> Option<Escape> {
    let held = Held::by(answer, signature);
    let sources = borrowed_parameters(signature, &held);
    // What is compiled only sometimes may not be what answers.
    if sources.is_empty() || has_word(body, "cfg") {
        return None;
    }
    let statements = Block::parse_within.parse2(body.clone()).ok()?;
    let bound = Bound::by(&statements.iter().collect::<Vec<_>>());
    let is_hidden = |it: &Borrowed| bound.has(&it.name);
    let (hidden, borrowed): (Vec<_>, Vec<_>) = sources.into_iter().partition(is_hidden);
    let mut walk = Walk::new(&borrowed, &bound, &statements, &held);
    walk.is_opaque = is_opaque(answer);
    walk.may_be_owned = has_word(&answer.to_token_stream(), "Cow");
    walk.answer_of(&statements);
    for statement in &statements {
        walk.visit_stmt(statement);
    }
    let (found, successes) = (walk.found, walk.successes);
    let asked = Asked {
        signature,
        borrowed: &borrowed,
        bound: &bound,
        statements: &statements,
        body,
        cloned,
    };
    let escape = asked.of_all(found, &held, successes.last()).or_else(|| {
        let mut sources = borrowed.iter().chain(&hidden);
        sources.find_map(|source| {
            let place = flow::place(signature, answer, source, &statements, &successes)?;
            Some(Found::in_answer(source, place).proven_by(Proof::Certain))
        })
    })?;
    let place = escape.place.to_string();
    let is_before = |it: &&Stmt| !it.to_token_stream().to_string().contains(&place);
    Some(Escape {
        follows_failure: statements.iter().take_while(is_before).any(may_fail),
        ..escape
    })
}

/// The type of an answer in which the compiler chooses the lifetimes.
pub fn with_any_lifetime(ty: TokenStream) -> TokenStream {
    // `for<'a>` names its own.
    if has_word(&ty, "for") {
        return ty;
    }
    let mut is_lifetime = false;
    let tokens = ty.into_iter().map(|token| {
        let after = std::mem::replace(&mut is_lifetime, false);
        match token {
            TokenTree::Group(group) => {
                let inner = with_any_lifetime(group.stream());
                let mut changed = Group::new(group.delimiter(), inner);
                changed.set_span(group.span());
                changed.into()
            }
            TokenTree::Punct(sign) => {
                is_lifetime = sign.as_char() == '\'';
                sign.into()
            }
            TokenTree::Ident(name) if after && name != "static" => {
                Ident::new("_", name.span()).into()
            }
            token => token,
        }
    });
    tokens.collect()
}

/// What can be asked of a borrow that is found.
struct Asked<'a> {
    signature: &'a Signature,
    borrowed: &'a [Borrowed],
    bound: &'a Bound,
    statements: &'a [Stmt],
    body: &'a TokenStream,
    /// The parameters of which each attempt has its own copy.
    cloned: &'a [Ident],
}

impl Asked<'_> {
    fn of_all(
        &self,
        mut found: Vec<Found>,
        held: &Held,
        success: Option<&TokenStream>,
    ) -> Option<Escape> {
        let certain = found.iter().find(|it| matches!(it.how, How::Uniquely));
        if let Some(found) = certain {
            return Some(found.proven_by(Proof::Certain));
        }
        // A `&mut` in the answer comes from this parameter, even where no expression shows it, unless it has no lifetime.
        let may_be_free = has_word(self.body, "unsafe") || has_word(self.body, "leak");
        if let (Some(source), Some(place)) = (held.only_source(self.borrowed), success)
            && names(self.body, &source.name)
            && !may_be_free
        {
            found.push(Found::in_answer(source, place.clone()));
        }
        let (fields, found): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|it| it.how == How::Field);
        let escape = found.iter().find_map(|it| self.of(it));
        escape.or_else(|| self.of_fields(&fields))
    }

    /// Fields that become parts of the answer.
    fn of_fields(&self, fields: &[Found]) -> Option<Escape> {
        let there = fields
            .iter()
            .filter(|it| self.bound.leaves_alone(&it.place));
        let places: Vec<_> = there.clone().map(|it| it.place.clone()).collect();
        Some(there.clone().next()?.proven_by(Proof::Held(places)))
    }

    fn of(&self, found: &Found) -> Option<Escape> {
        if found.how == How::ByType {
            let name = found.name.to_token_stream();
            return Some(found.proven_by(Proof::Held(vec![name])));
        }
        let lifetime = found.lifetime.as_ref();
        if lifetime.is_some_and(|lifetime| self.may_borrow_another(lifetime)) {
            return None;
        }
        let answer = found.answer.as_ref();
        let answer = answer.filter(|answer| self.bound.leaves_alone(answer));
        if found.how == How::Shared
            && let Some(escape) = self.of_shared(found, answer)
        {
            return Some(escape);
        }
        if let Some(answer) = answer
            && let Some(others) = self.others_in(&found.name, answer)
        {
            let proof = Proof::Answer(answer.clone(), others);
            return Some(found.proven_by(proof));
        }
        if self.is_body_asked(found) {
            return Some(found.proven_by(Proof::Body));
        }
        // A function that takes `&'a mut` scratch space and passes all of it on borrows it uniquely.
        found.is_scratch().then(|| found.proven_by(Proof::Certain))
    }

    /// A shared borrow, of what another statement may need by `&mut`.
    fn of_shared(&self, found: &Found, answer: Option<&TokenStream>) -> Option<Escape> {
        let part = part_of(&found.name, &found.place)?;
        let changes = self.changes(&found.name, &part);
        if changes.is_empty() {
            return None;
        }
        let there: Vec<_> = changes
            .iter()
            .filter_map(|it| self.in_front(&found.name, it))
            .collect();
        let asked = answer
            .filter(|_| !there.is_empty())
            .map(|answer| quote::quote!({ #(#there)* #answer }));
        let asked = asked.and_then(|asked| Some((self.others_in(&found.name, &asked)?, asked)));
        let proof = match asked {
            Some((others, asked)) => Proof::Answer(asked, others),
            None if self.is_body_asked(found) => Proof::Body,
            None => return None,
        };
        Some(Escape {
            shared: Some(places(&found.name, found.place.span(), &part)),
            ..found.proven_by(proof)
        })
    }

    /// A statement that can stand in front of the body: what it binds by itself it brings along.
    fn in_front(&self, name: &Ident, statement: &Stmt) -> Option<TokenStream> {
        let others = self.statements.iter().filter(|it| *it != statement);
        let others: Vec<_> = others.collect();
        let bound = Bound::by(&others);
        let tokens = statement.to_token_stream();
        if bound.leaves_alone(&tokens) {
            return Some(tokens);
        }
        // Whatever it assigns to a part of the parameter, it changes that.
        let Stmt::Expr(Expr::Assign(assign), _) = statement else {
            return None;
        };
        let place = assign.left.to_token_stream();
        let none = quote::quote!(::core::option::Option::None);
        (names(&place, name) && bound.leaves_alone(&place))
            .then(|| quote::quote!(#place = ::core::option::Option::unwrap(#none);))
    }

    /// Whether the closure of a body tells what the body does with this parameter.
    fn is_body_asked(&self, found: &Found) -> bool {
        // Another parameter that is changed would answer for this one.
        self.is_alone(found) && (found.is_scratch() || are_one(&found.name, self.body))
    }

    /// Whether nothing but its parameter, and those that are borrowed beside it, can be what an attempt changes.
    fn is_alone(&self, found: &Found) -> bool {
        self.signature.inputs.iter().all(|input| {
            let other = match input {
                FnArg::Receiver(receiver) => Ident::new("self", receiver.self_token.span),
                FnArg::Typed(typed) => match &*typed.pat {
                    Pat::Ident(name) => name.ident.clone(),
                    _ => return false,
                },
            };
            let mut borrowed = self.borrowed.iter();
            let is_beside = borrowed.any(|it| it.name == other) && names(&found.place, &other);
            other == found.name
                || is_beside
                || self.cloned.contains(&other)
                || is_shared(input)
                || is_only_borrowed(&other, self.body)
        })
    }

    /// The statements that may need the part of a parameter by `&mut`, in blocks too.
    fn changes<'s>(&'s self, name: &'s Ident, part: &'s [String]) -> Vec<&'s Stmt> {
        let mut changes = Changes {
            name,
            part,
            found: Vec::new(),
        };
        for statement in self.statements {
            changes.visit_stmt(statement);
        }
        changes.found
    }

    /// The other parameters in an answer, unless one of them is a `self` that would answer for this one.
    fn others_in(&self, name: &Ident, answer: &TokenStream) -> Option<Vec<Ident>> {
        let mut others = Vec::new();
        for input in &self.signature.inputs {
            let other = match input {
                FnArg::Receiver(receiver) => Ident::new("self", receiver.self_token.span),
                FnArg::Typed(typed) => match &*typed.pat {
                    Pat::Ident(name) => name.ident.clone(),
                    _ => return None,
                },
            };
            let is_borrowed = self.borrowed.iter().any(|it| it.name == other);
            if other == *name || is_borrowed || !names(answer, &other) {
                continue;
            }
            match input {
                FnArg::Receiver(_) if is_shared(input) => {}
                FnArg::Receiver(_) => return None,
                FnArg::Typed(_) => others.push(other),
            }
        }
        Some(others)
    }

    /// Whether the answer may as well borrow a parameter that has the same lifetime, and is not borrowed uniquely.
    fn may_borrow_another(&self, lifetime: &Ident) -> bool {
        let borrowed = self.borrowed.iter();
        let unique = borrowed.filter(|it| it.lifetime.as_ref() == Some(lifetime));
        let has_it = |input: &&FnArg| names(&input.to_token_stream(), lifetime);
        self.signature.inputs.iter().filter(has_it).count() > unique.count()
    }
}

/// The statements that may need a part of a parameter by `&mut`.
struct Changes<'s> {
    name: &'s Ident,
    part: &'s [String],
    found: Vec<&'s Stmt>,
}

impl Changes<'_> {
    fn has(&self, statement: &Stmt) -> bool {
        let Stmt::Expr(expr, end) = statement else {
            return false;
        };
        let mut uses = Vec::new();
        parts_of(self.name, &statement.to_token_stream(), &mut uses);
        // Of two parts of which one holds the other, the closure of an attempt borrows the larger one.
        let larger = uses.iter().filter(|it| self.part.starts_with(it));
        let whole = larger.map(Vec::as_slice).min_by_key(|it| it.len());
        let whole = whole.unwrap_or(self.part);
        (end.is_some() || is_unit(expr))
            && !uses.is_empty()
            && uses.iter().all(|it| it.starts_with(whole))
            && !walk::has_hidden(expr)
    }
}

impl<'s> Visit<'s> for Changes<'s> {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        if self.has(statement) {
            self.found.push(statement);
        } else {
            visit::visit_stmt(self, statement);
        }
    }

    // These run at another time, or never.
    fn visit_expr_closure(&mut self, _: &'s syn::ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'s syn::ExprAsync) {}
    fn visit_item(&mut self, _: &'s syn::Item) {}
}

/// The lifetimes in an answer.
struct Held {
    named: Vec<Ident>,
    is_elided: bool,
    /// The lifetimes at a `&mut`; none where it is elided.
    unique: Vec<Option<Ident>>,
    /// Whether it is `Self`, with the lifetimes of the `impl` block, or a part of it.
    is_self: bool,
    /// Whether it is a type that a trait gives, such as `Self::Compound`.
    is_of_trait: bool,
    /// Those that only the bound of a type parameter names: `T: Deserialize<'a>`.
    by_bound: Vec<Ident>,
    /// The lifetimes of the function.
    own: Vec<Ident>,
}

impl Held {
    fn by(answer: &Type, signature: &Signature) -> Self {
        let own = signature.generics.lifetimes();
        let mut held = Self {
            named: Vec::new(),
            is_elided: false,
            unique: Vec::new(),
            is_self: false,
            is_of_trait: false,
            by_bound: Vec::new(),
            own: own.map(|it| it.lifetime.ident.clone()).collect(),
        };
        held.visit_type(answer);
        if held.named.is_empty() && !held.is_elided {
            held.by_bounds(answer, signature);
        }
        held
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

    fn is_unique(&self) -> bool {
        !self.unique.is_empty()
    }

    fn names(&self, lifetime: Option<&Lifetime>) -> bool {
        lifetime.is_some_and(|it| {
            // Both may have those of the `impl` block.
            let is_hidden = self.is_self || self.is_of_trait;
            self.named.contains(&it.ident) || is_hidden && !self.own.contains(&it.ident)
        })
    }

    /// The only parameter that a `&mut` in the answer, or what a bound lets it hold, can come from.
    fn only_source<'b>(&self, borrowed: &'b [Borrowed]) -> Option<&'b Borrowed> {
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

/// Whether an expression at the end of a line is a statement.
const fn is_unit(expr: &Expr) -> bool {
    matches!(expr, Expr::ForLoop(_) | Expr::While(_))
        || matches!(expr, Expr::If(it) if it.else_branch.is_none())
}

/// Whether a type is an `impl Trait` that names what it borrows.
fn is_opaque(answer: &Type) -> bool {
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

/// A parameter that is a unique reference, or a `self` that may be one, and that the answer may hold.
struct Borrowed {
    name: Ident,
    lifetime: Option<Ident>,
    /// Whether the answer names its lifetime.
    is_named: bool,
    is_receiver_by_value: bool,
}

fn borrowed_parameters(signature: &Signature, held: &Held) -> Vec<Borrowed> {
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
                borrow(name.ident.clone(), it.lifetime.as_ref(), !is_borrowed)
            }
            _ => None,
        },
    });
    inputs.collect()
}

/// Whether no two parts of a parameter are used on their own: then a unique borrow of one is that of the other.
fn are_one(name: &Ident, body: &TokenStream) -> bool {
    let mut uses = Vec::new();
    parts_of(name, body, &mut uses);
    let largest = uses.iter().min_by_key(|it| it.len());
    largest.is_none_or(|largest| uses.iter().all(|it| it.starts_with(largest)))
}

/// The fields of each use of a parameter; none where it is used as a whole.
fn parts_of(name: &Ident, tokens: &TokenStream, uses: &mut Vec<Vec<String>>) {
    let tokens: Vec<_> = tokens.clone().into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => parts_of(name, &group.stream(), uses),
            TokenTree::Ident(found) if found == name => {
                let after = tokens.get(index.saturating_add(1)..).unwrap_or_default();
                uses.push(fields(after));
            }
            _ => {}
        }
    }
}

/// The fields of the first use.
fn part_of(name: &Ident, tokens: &TokenStream) -> Option<Vec<String>> {
    let mut uses = Vec::new();
    parts_of(name, tokens, &mut uses);
    uses.into_iter().next()
}

/// The fields on the way to a part of a parameter: `self.a` and `self.a.b`.
fn places(name: &Ident, span: Span, part: &[String]) -> Vec<TokenStream> {
    let mut place = name.to_token_stream();
    let places = part.iter().map_while(|field| {
        let mut field = field.parse::<TokenStream>().ok()?.into_iter().next()?;
        field.set_span(span);
        place = quote::quote!(#place.#field);
        Some(place.clone())
    });
    places.collect()
}

/// The fields that are named in front of a call.
fn fields(mut tokens: &[TokenTree]) -> Vec<String> {
    let mut fields = Vec::new();
    while let [TokenTree::Punct(dot), field, rest @ ..] = tokens {
        let is_call = matches!((field, rest), (TokenTree::Ident(_), [TokenTree::Group(call), ..]) if call.delimiter() == Delimiter::Parenthesis);
        if dot.as_char() != '.' || is_call {
            break;
        }
        fields.push(field.to_string());
        tokens = rest;
    }
    fields
}

/// Whether each use of a parameter is a `&` in front of it.
fn is_only_borrowed(name: &Ident, tokens: &TokenStream) -> bool {
    let mut is_sign = false;
    tokens.clone().into_iter().all(|token| {
        let is_behind_sign = is_sign;
        is_sign = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '&');
        match &token {
            TokenTree::Group(group) => is_only_borrowed(name, &group.stream()),
            TokenTree::Ident(found) => found != name || is_behind_sign,
            _ => true,
        }
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
                Type::Path(path) => match path.path.segments.last() {
                    Some(last) if last.ident == "Option" => is_only_read(&last.arguments),
                    Some(_) => path.path.get_ident().is_some_and(is_plain),
                    None => false,
                },
                ty => is_shared_reference(ty),
            },
            _ => false,
        },
    }
}

fn is_shared_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(it) if it.mutability.is_none())
}

/// Whether what an `Option` holds is read through a reference.
fn is_only_read(arguments: &PathArguments) -> bool {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return false;
    };
    let mut all = arguments.args.iter();
    all.all(|it| matches!(it, GenericArgument::Type(ty) if is_shared_reference(ty)))
}

/// Whether an attempt may fail in a statement.
fn may_fail(statement: &Stmt) -> bool {
    struct Fails(bool);
    impl<'ast> Visit<'ast> for Fails {
        fn visit_expr_try(&mut self, _: &'ast syn::ExprTry) {
            self.0 = true;
        }
        fn visit_expr_return(&mut self, returned: &'ast syn::ExprReturn) {
            self.0 |= returned.expr.as_deref().is_some_and(is_error);
        }
    }
    let mut fails = Fails(false);
    fails.visit_stmt(statement);
    fails.0
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

    /// Writes `name` for `self` in the code.
    pub(crate) fn call_self(&mut self, name: &Ident) {
        let renamed = |tokens: &mut TokenStream| *tokens = self_to(std::mem::take(tokens), name);
        renamed(&mut self.place);
        self.shared.iter_mut().flatten().for_each(renamed);
        match &mut self.proof {
            Proof::Answer(asked, _) => renamed(asked),
            Proof::Held(places) => places.iter_mut().for_each(renamed),
            Proof::Certain | Proof::Body => {}
        }
        if self.name == "self" {
            self.name = name.clone();
        }
    }

    /// Returns what is said of it.
    pub fn message(&self) -> String {
        let name = declared(&self.name);
        if matches!(&self.proof, Proof::Held(held) if held.iter().any(|it| self.name == it.to_string()))
        {
            return "the answer holds `self`, which is a `&mut`, and the next attempt needs it; leave the method without retries by `#[retry(never)]`, or retry a part of the body with `retry_block!`".to_owned();
        }
        let block = if self.follows_failure {
            "retry only what stands before the borrow with `retry_block!`, "
        } else {
            ""
        };
        let by = if self.shared.is_some() {
            ", which the attempt borrows by `&mut`, and the next attempt needs it"
        } else {
            " by `&mut`, and the next attempt needs the same borrow"
        };
        format!(
            "the answer borrows `{name}`{by}; {block}return an owned value, or retry in a caller that does, with `#[retry(never)]` here"
        )
    }
}

#[cfg(test)]
mod tests;
