//! Answers that hold a unique borrow of a parameter: the next attempt would need the same borrow.
//!
//! The signature shows which parameters an answer may borrow, the body which part of them it does. Where only types tell
//! whether an attempt needs that part by `&mut`, the compiler is asked of a copy of the body in which all else has another
//! name.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, CapturedParam, FnArg, Lifetime, Pat, ReceiverKind, Signature, Stmt, Type, TypeParamBound,
};

pub use self::apart::{Apart, StandIn};
use self::apart::{Subject, Use};
use self::chains::How;
use self::made::Made;
use self::variables::Bound;
pub(crate) use self::variables::{names_in, plain};
use self::walk::{Found, Walk};
use crate::item::{generics, has_condition, has_word, is_there_sometimes, names};
use crate::moves::{any_name, bounds_of, conditions, declared};
use crate::rename::self_to;
use crate::tokens::is_error;

mod apart;
mod chains;
mod made;
mod variables;
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
    /// Whether the answer may borrow by `&` what the attempt needs by `&mut`.
    pub is_shared: bool,
    /// The fields on the way to what is borrowed: of a reference it is borrowed for longer.
    pub fields: Vec<TokenStream>,
    /// `self`, or fields, that become parts of the answer: none of them is a mutable reference.
    pub held: Vec<TokenStream>,
    /// The borrow, where a variable holds it before that place.
    start: Option<TokenStream>,
    /// Whether an attempt may fail in a statement before it.
    pub follows_failure: bool,
    /// What to write if the answer borrows nothing of the parameter, which types do not tell.
    pub unless: Option<&'static str>,
}

/// What says that a borrow is a unique one.
#[derive(Debug, Clone)]
pub enum Proof {
    /// The source.
    Certain,
    /// The compiler, asked whether the body borrows the part uniquely.
    Body(Apart),
    /// The compiler, asked whether what is `held` is one.
    Held,
}

/// Returns the first borrow that an answer of this type takes out of an attempt.
pub fn find(signature: &Signature, answer: &Type, body: &TokenStream) -> Option<Escape> {
    let held = Held::by(answer, signature);
    let sources = borrowed_parameters(signature, &held);
    if sources.is_empty() {
        return None;
    }
    let mut statements = Block::parse_within.parse2(body.clone()).ok()?;
    let bound = Bound::by(&statements.iter().collect::<Vec<_>>());
    Sometimes::hide(&mut statements)?;
    let is_hidden = |it: &Borrowed| bound.has(&it.name);
    let (hidden, borrowed): (Vec<_>, Vec<_>) = sources.into_iter().partition(is_hidden);
    let mut walk = Walk::new(&borrowed, &bound, &statements, &held);
    walk.is_opaque = is_opaque(answer);
    walk.is_reference = is_reference(answer);
    walk.may_be_owned = has_word(&answer.to_token_stream(), "Cow");
    walk.answer_of(&statements);
    for statement in &statements {
        walk.visit_stmt(statement);
    }
    let (mut found, successes) = (walk.found, walk.successes);
    let is_before = |it: &&Stmt, place: &TokenStream| {
        let text = it.to_token_stream().to_string();
        !text.contains(&place.to_string())
    };
    // A `self` that is used again was not given away.
    found.retain(|it| {
        let behind = statements
            .iter()
            .skip_while(|stmt| is_before(stmt, &it.place))
            .skip(1);
        let mut later = behind.map(Stmt::to_token_stream);
        it.how != How::ByType || it.is_part || !later.any(|stmt| names(&stmt, &it.name))
    });
    let asked = Asked {
        signature,
        answer,
        borrowed: &borrowed,
        hidden: &hidden,
        bound: &bound,
        body,
    };
    let escape = asked.of_all(found, &held, &successes).or_else(|| {
        let mut sources = borrowed.iter().chain(&hidden);
        sources.find_map(|it| asked.of_made(it, &statements, &successes))
    })?;
    let start = escape.start.as_ref().unwrap_or(&escape.place);
    let mut before = statements.iter().take_while(|it| is_before(it, start));
    Some(Escape {
        follows_failure: before.any(may_fail),
        unless: asked.unless(&escape, &held),
        ..escape
    })
}

/// Hides what is compiled only sometimes: it may not be what answers.
struct Sometimes {
    may_return: bool,
}

impl Sometimes {
    /// Puts a value that borrows nothing in its place; gives up on other places, and where it may end the body.
    fn hide(statements: &mut [Stmt]) -> Option<()> {
        let mut hidden = Self { may_return: false };
        for statement in statements.iter_mut() {
            hidden.visit_stmt_mut(statement);
        }
        let rest = statements.iter().map(Stmt::to_token_stream).collect();
        (!hidden.may_return && !has_condition(&rest)).then_some(())
    }

    fn is_there(&mut self, code: &TokenStream) -> bool {
        let is_hidden = !conditions(code).is_empty();
        self.may_return |= is_hidden && has_word(code, "return");
        !is_hidden
    }
}

impl VisitMut for Sometimes {
    fn visit_stmt_mut(&mut self, statement: &mut Stmt) {
        if self.is_there(&statement.to_token_stream()) {
            return visit_mut::visit_stmt_mut(self, statement);
        }
        let is_last = matches!(statement, Stmt::Expr(_, None));
        *statement = Stmt::Expr(syn::parse_quote!(cfg!()), (!is_last).then(Default::default));
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        if self.is_there(&field.to_token_stream()) {
            return visit_mut::visit_field_value_mut(self, field);
        }
        field.attrs.clear();
        field.expr = syn::parse_quote!(cfg!());
    }
}

/// Returns the parameters that are mutable references and that no answer of this type borrows.
pub fn unborrowed(signature: &Signature, answer: &Type) -> Vec<Ident> {
    let borrowed = borrowed_parameters(signature, &Held::by(answer, signature));
    let is_sometimes = |it: &&FnArg| matches!(it, FnArg::Typed(it) if is_there_sometimes(it));
    let inputs = signature.inputs.iter().filter(|it| !is_sometimes(it));
    let unique = inputs.filter_map(apart::unique);
    let is_borrowed = |name: &Ident| borrowed.iter().any(|it| it.name == *name);
    unique.filter(|name| !is_borrowed(name)).collect()
}

/// Whether code uses all of a variable, and not fields of it alone.
pub fn uses_whole(name: &Ident, code: &TokenStream) -> bool {
    Use::all(name, code).iter().any(Use::is_of_all)
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
    answer: &'a Type,
    borrowed: &'a [Borrowed],
    /// Those that a variable of the body hides.
    hidden: &'a [Borrowed],
    bound: &'a Bound,
    body: &'a TokenStream,
}

impl Asked<'_> {
    fn of_all(
        &self,
        mut found: Vec<Found>,
        held: &Held,
        successes: &[TokenStream],
    ) -> Option<Escape> {
        let certain = found.iter().find(|it| matches!(it.how, How::Uniquely));
        if let Some(found) = certain {
            return Some(found.proven_by(Proof::Certain));
        }
        // Even where no expression shows it, what has the lifetime of one parameter comes from that, unless it has none.
        let may_be_free = has_word(self.body, "unsafe") || has_word(self.body, "leak");
        if let Some((source, place)) = self.only_source(held, successes)
            && found
                .iter()
                .all(|it| it.name != source.name || it.how == How::Field)
            && !may_be_free
        {
            let part =
                apart::only_part(&Use::all(&source.name, self.body).iter().collect::<Vec<_>>());
            if let Some(part) = part.or_else(|| held.is_unique().then(Vec::new)) {
                let of_all = Found {
                    part,
                    ..Found::in_answer(source, place.clone())
                };
                if held.is_unique() || !self.may_borrow_another(&of_all) {
                    found.push(of_all);
                }
            }
        }
        let (fields, found): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|it| it.how == How::Field);
        // Of two parts the likeliest is a `&mut` that a constructor gets.
        let unique = found.iter().filter(|it| it.is_unique);
        let mut likely = unique.chain(found.iter().filter(|it| !it.is_unique));
        let escape = likely.find_map(|it| self.of(it, &found, held));
        let fields = self.of_fields(&fields);
        match (escape, fields) {
            (Some(mut escape), Some(fields)) => {
                escape.held.extend(fields.held);
                Some(escape)
            }
            (escape, fields) => escape.or(fields),
        }
    }

    /// What the answer is made of, where no expression shows what it borrows.
    fn of_made(
        &self,
        source: &Borrowed,
        statements: &[Stmt],
        successes: &[TokenStream],
    ) -> Option<Escape> {
        let is_hidden = self.bound.has(&source.name);
        let made = Made::of(&source.name, statements, successes, is_hidden)?;
        let found = Found::in_answer(source, made.code.first()?.clone());
        // A `Cow` may own what it is made of.
        let may_be_owned = has_word(&self.answer.to_token_stream(), "Cow");
        if source.is_receiver_by_value || may_be_owned || self.may_borrow_another(&found) {
            return None;
        }
        // An argument behind a `&` is not what is borrowed by `&mut`.
        let unique: Vec<_> = made.uses.iter().filter(|it| it.is_unique).take(1).collect();
        let is_called = |it: &&Use| !it.is_shared && !it.is_field();
        let called: Vec<_> = made.uses.iter().filter(is_called).collect();
        let part = apart::only_part(&unique).or_else(|| apart::only_part(&called));
        if let Some(part) = part {
            return self.of_part(&found, &part, made.code, false);
        }
        let fields = made.uses.iter().filter(|it| it.is_field());
        let places: Vec<_> = fields.map(|it| it.place(&source.name)).collect();
        (!places.is_empty()).then(|| found.holding(places))
    }

    /// Whether the only code that may borrow a part, or all of the body, needs it by `&mut`.
    fn of_part(
        &self,
        found: &Found,
        part: &[String],
        users: Vec<TokenStream>,
        is_shared: bool,
    ) -> Option<Escape> {
        let users = users.into_iter().map(|it| it.into_iter().collect());
        let subject = Subject {
            name: &found.name,
            part,
            users: users.collect(),
        };
        let apart = Apart::of(self.signature, self.body, &subject)?;
        Some(Escape {
            is_shared,
            fields: apart::places(&found.name, found.place.span(), part),
            ..found.proven_by(Proof::Body(apart))
        })
    }

    /// Fields that become parts of the answer.
    fn of_fields(&self, fields: &[Found]) -> Option<Escape> {
        let there = fields
            .iter()
            .filter(|it| self.bound.leaves_alone(&it.place));
        let places: Vec<_> = there.clone().map(|it| it.place.clone()).collect();
        Some(there.clone().next()?.holding(places))
    }

    /// What is asked of a borrow, and of all others of the same part.
    fn of(&self, found: &Found, all: &[Found], held: &Held) -> Option<Escape> {
        if found.how == How::ByType {
            let of_it = all.iter().filter(|it| it.name == found.name);
            let ways = of_it.flat_map(|it| apart::places(&it.name, it.place.span(), &it.part));
            let held = [found.name.to_token_stream()].into_iter().chain(ways);
            return Some(found.holding(held.collect()));
        }
        if !self.is_in_answer(found, held) {
            return None;
        }
        let is_same = |it: &&Found| {
            (&it.name, &it.part) == (&found.name, &found.part) && self.is_in_answer(it, held)
        };
        let all: Vec<_> = all.iter().filter(is_same).collect();
        let is_whole = all.iter().any(|it| it.user.is_none());
        let users = all.iter().filter_map(|it| it.user.clone());
        let users = users.filter(|_| !is_whole).collect();
        // Which of several it is the compiler does not say: the value stands behind what it is made of.
        let mut later = all.iter().rev().filter(|it| it.user.is_some());
        let last = *later.next().or(all.first())?;
        self.of_part(last, &found.part, users, is_whole)
    }

    /// Whether the answer has such a borrow, and not that of another parameter with the same lifetime. A type that is made
    /// of both mostly holds both.
    fn is_in_answer(&self, found: &Found, held: &Held) -> bool {
        found.is_part
            || held.is_unique()
            || has_lifetime_argument(self.answer, |_| true)
            || held.is_self
            || !self.may_borrow_another(found)
    }

    /// What to write if the answer borrows nothing of the parameter.
    fn unless(&self, escape: &Escape, held: &Held) -> Option<&'static str> {
        let place = escape.place.to_string();
        if place.starts_with('&') || place == "self" || matches!(escape.proof, Proof::Certain) {
            return None;
        }
        if matches!(escape.proof, Proof::Held) {
            let own = "write its own type in place of `Self::..`";
            return held.is_of_trait.then_some(own);
        }
        let mut borrowed = self.borrowed.iter().chain(self.hidden);
        let lifetime = borrowed
            .find(|it| it.name == escape.name)?
            .lifetime
            .as_ref();
        let has_it =
            |input: &&FnArg| lifetime.is_some_and(|it| names(&input.to_token_stream(), it));
        if self.signature.inputs.iter().filter(has_it).count() > 1 {
            return Some("give each parameter a lifetime of its own");
        }
        if has_lifetime_argument(self.answer, |it| it.ident == "_") {
            return Some("write `'static` for its lifetime");
        }
        let is_elided = held.is_elided && lifetime.is_none();
        is_elided.then_some("write the lifetime of what it borrows")
    }

    /// The only parameter that has a lifetime of the answer, and where the answer is made.
    fn only_source<'s>(
        &self,
        held: &Held,
        successes: &'s [TokenStream],
    ) -> Option<(&Borrowed, &'s TokenStream)> {
        let mut latest = successes.iter().rev();
        let is_used = |source: &Borrowed| names(self.body, &source.name);
        if let Some(source) = held.only_source(self.borrowed) {
            return latest
                .next()
                .filter(|_| is_used(source))
                .map(|it| (source, it));
        }
        let mut sources = self.borrowed.iter().filter(|it| {
            let has_receiver = self.signature.receiver().is_some();
            // A `Self` may have it or not, and the `self` of a method, too.
            let is_of_it = |lifetime| {
                held.named.contains(lifetime) && (held.own.contains(lifetime) || !has_receiver)
            };
            it.lifetime.as_ref().is_some_and(is_of_it) || it.is_owned && held.is_elided
        });
        let source = sources.next().filter(|it| is_used(it))?;
        if sources.next().is_some() {
            return None;
        }
        // A text of the source, or a constant, is made of nothing.
        let is_made =
            |place: &&TokenStream| names(place, &source.name) || !self.bound.leaves_alone(place);
        Some((source, latest.find(is_made)?))
    }

    /// Whether the answer may as well borrow a parameter that has the same lifetime, and is not borrowed uniquely.
    fn may_borrow_another(&self, found: &Found) -> bool {
        let Some(lifetime) = &found.lifetime else {
            return false;
        };
        let borrowed = self.borrowed.iter().chain(self.hidden);
        let unique = borrowed.filter(|it| it.lifetime.as_ref() == Some(lifetime));
        let has_it = |input: &&FnArg| names(&input.to_token_stream(), lifetime);
        self.signature.inputs.iter().filter(has_it).count() > unique.count()
    }
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

/// Whether a type of an answer has such a lifetime, as `Page<'a>` has one.
fn has_lifetime_argument(answer: &Type, is_meant: fn(&Lifetime) -> bool) -> bool {
    struct Arguments(fn(&Lifetime) -> bool, bool);
    impl<'ast> Visit<'ast> for Arguments {
        fn visit_generic_argument(&mut self, argument: &'ast syn::GenericArgument) {
            self.1 |= matches!(argument, syn::GenericArgument::Lifetime(it) if self.0(it));
            visit::visit_generic_argument(self, argument);
        }
    }
    let mut arguments = Arguments(is_meant, false);
    arguments.visit_type(answer);
    arguments.1
}

/// Whether an answer holds one borrow, a `&` to what is hardly a constant.
fn is_reference(answer: &Type) -> bool {
    #[derive(Default)]
    struct Borrows {
        all: usize,
        references: usize,
    }
    impl<'ast> Visit<'ast> for Borrows {
        fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
            const CONSTANT: &[&str] = &["str", "CStr", "OsStr", "Path"];
            if let (None, Type::Path(to)) = (reference.mutability, &*reference.elem)
                && let Some(last) = to.path.segments.last()
                && !CONSTANT.iter().any(|name| last.ident == name)
            {
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
struct Borrowed {
    name: Ident,
    lifetime: Option<Ident>,
    /// Whether the answer names its lifetime.
    is_named: bool,
    is_receiver_by_value: bool,
    /// Whether what it points to has no lifetime, as far as its type shows: what the answer borrows is a part of that.
    is_owned: bool,
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
fn is_owned(ty: &Type, signature: &Signature) -> bool {
    let mut generics = generics(signature);
    generics.extend(["Self", "impl", "dyn"].map(|word| Ident::new(word, Span::call_site())));
    let tokens = ty.to_token_stream();
    let has_lifetime = tokens.to_string().contains('\'') || matches!(ty, Type::Reference(_));
    let is_hidden = |name: &str, _| generics.iter().any(|it| it == name) || name.len() == 1;
    !has_lifetime && !any_name(&tokens, &is_hidden)
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

impl Escape {
    /// Returns where it is.
    pub fn span(&self) -> Span {
        self.place.span()
    }

    /// Writes `name` for `self` in the code.
    pub(crate) fn call_self(&mut self, name: &Ident) {
        let renamed = |tokens: &mut TokenStream| *tokens = self_to(std::mem::take(tokens), name);
        renamed(&mut self.place);
        self.fields
            .iter_mut()
            .chain(&mut self.held)
            .for_each(renamed);
        if let Proof::Body(apart) = &mut self.proof {
            apart.call_self(name);
        }
        if self.name == "self" {
            self.name = name.clone();
        }
    }

    /// Returns what is said of it.
    pub fn message(&self) -> String {
        let name = declared(&self.name);
        let is_held = |it: &TokenStream| self.name == it.to_string();
        let unless = self.unless.map_or_else(String::new, |it| {
            format!("{it} if the answer borrows nothing of `{name}`, ")
        });
        if matches!(self.proof, Proof::Held) && self.held.first().is_some_and(is_held) {
            return format!(
                "the answer holds a `&mut` of `self`, and the next attempt needs it; leave the method without retries by `#[retry(never)]`, {unless}or retry a part of the body with `retry_block!`"
            );
        }
        let block = if self.follows_failure {
            "retry only what stands before the borrow with `retry_block!`, "
        } else {
            ""
        };
        let by = if self.is_shared {
            ", which the attempt borrows by `&mut`, and the next attempt needs it"
        } else {
            " by `&mut`, and the next attempt needs the same borrow"
        };
        format!(
            "the answer borrows `{name}`{by}; {block}return an owned value, {unless}or retry in a caller that does, with `#[retry(never)]` here"
        )
    }
}

#[cfg(test)]
mod tests;
