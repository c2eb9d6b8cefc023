//! The walk over what a body answers.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{Expr, ExprClosure, ExprMethodCall, ExprReturn, Item, Stmt, Token, Type};

use super::answer::{Borrowed, Held, may_be_owned};
use super::chains::{
    How, base, chain_in, ends, how_of, is_constructor, is_value, made_by, passed_on, passes_on,
    start_of_chain,
};
use super::variables::{Binding, Bound, Matched, matched, names_in};
use super::{Escape, Proof, apart};
use crate::tokens::{is_error, is_of};

/// A borrow in an answer.
pub(super) struct Found {
    pub(super) name: Ident,
    pub(super) place: TokenStream,
    pub(super) how: How,
    /// Whether a constructor in the answer gets it by a variable that is a `&mut`; of a call alone it may give a number.
    pub(super) is_unique: bool,
    /// The borrow that a variable holds, where the place is a part of that.
    pub(super) start: Option<TokenStream>,
    /// The fields of the parameter that lead to what is borrowed.
    pub(super) part: Vec<String>,
    /// Whether the answer certainly has it, whatever else has its lifetime.
    pub(super) is_part: bool,
    /// The code that may need it by `&mut`, where that decides: not what borrows it by `&` after the rest.
    pub(super) user: Option<TokenStream>,
    /// The lifetime of the parameter, if the answer names it.
    pub(super) lifetime: Option<Ident>,
}

impl Found {
    /// A borrow of a parameter that the type of an answer shows.
    pub(super) fn in_answer(source: &Borrowed, place: TokenStream) -> Self {
        Self {
            name: source.name.clone(),
            place,
            how: How::Perhaps,
            is_unique: false,
            start: None,
            part: Vec::new(),
            is_part: false,
            user: None,
            lifetime: source.lifetime.clone().filter(|_| source.is_named),
        }
    }

    /// The same, if one of these is a mutable reference.
    pub(super) fn holding(&self, held: Vec<TokenStream>) -> Escape {
        Escape {
            held,
            ..self.proven_by(Proof::Held)
        }
    }

    pub(super) fn proven_by(&self, proof: Proof) -> Escape {
        Escape {
            name: self.name.clone(),
            place: self.place.clone(),
            proof,
            is_shared: false,
            fields: Vec::new(),
            held: Vec::new(),
            start: self.start.clone(),
            follows_failure: false,
            unless: None,
        }
    }
}

/// A constructor keeps what it gets; of a call, and of `Ok`, nobody knows.
#[derive(Clone, Copy, PartialEq)]
enum ArgumentOf {
    Call,
    Constructor,
}

/// A walk over what a body answers.
pub(super) struct Walk<'a> {
    borrowed: &'a [Borrowed],
    /// The variables that are bound once.
    locals: Vec<(&'a Ident, &'a Expr)>,
    /// The variables of the patterns of a `match` or an `if let`.
    matched: Vec<Matched<'a>>,
    answer: &'a Type,
    /// What the answer holds.
    held: &'a Held,
    /// Whether it is an `impl Trait` that names what it borrows.
    pub(super) is_opaque: bool,
    /// Whether it is a reference of its own to what is hardly a constant.
    pub(super) is_reference: bool,
    /// Whether a type of it has a lifetime.
    pub(super) has_lifetime: bool,
    /// Whose argument what is walked over is.
    argument: ArgumentOf,
    pub(super) found: Vec<Found>,
    /// The answers that may be successes.
    pub(super) successes: Vec<TokenStream>,
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_expr_return(&mut self, returned: &'ast ExprReturn) {
        if let Some(expr) = &returned.expr {
            self.answer(expr);
        }
    }

    // What leaves these is no answer of the body.
    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
    fn visit_item(&mut self, _: &'ast Item) {}
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        borrowed: &'a [Borrowed],
        bound: &Bound,
        statements: &'a [Stmt],
        (answer, held): (&'a Type, &'a Held),
    ) -> Self {
        let is_bound_once = |name: &Ident| bound.0.iter().filter(|it| *it == name).count() == 1;
        let locals = Binding::in_all(statements).into_iter().filter_map(|it| {
            let name = it.variable().filter(|name| is_bound_once(name))?;
            Some((name, it.value))
        });
        Self {
            borrowed,
            locals: locals.collect(),
            matched: matched(statements, bound),
            answer,
            held,
            is_opaque: false,
            is_reference: false,
            has_lifetime: false,
            argument: ArgumentOf::Call,
            found: Vec::new(),
            successes: Vec::new(),
        }
    }

    pub(super) fn answer_of(&mut self, statements: &[Stmt]) {
        if let Some(Stmt::Expr(expr, None)) = statements.last() {
            self.answer(expr);
        }
    }

    /// What is answered: `Ok(..)`, or a call that answers itself.
    fn answer(&mut self, expr: &Expr) {
        if let Some(ends) = ends(expr) {
            return ends.into_iter().for_each(|end| self.answer(end));
        }
        match expr {
            Expr::Paren(paren) => self.answer(&paren.expr),
            Expr::Macro(_) => {}
            _ if is_error(expr) => {}
            _ => {
                self.successes.push(passed_on(expr).to_token_stream());
                match expr {
                    Expr::Call(call) => match call.args.first() {
                        Some(value) if is_of(&call.func, &["Ok", "Some"]) => self.value(value),
                        _ => self.value(expr),
                    },
                    _ => self.value(expr),
                }
            }
        }
    }

    /// The value in an answer.
    fn value(&mut self, expr: &Expr) {
        if let Some(ends) = ends(expr) {
            return ends.into_iter().for_each(|end| self.value(end));
        }
        match expr {
            Expr::Paren(paren) => self.value(&paren.expr),
            Expr::Try(tried) => self.value(&tried.expr),
            Expr::Await(awaited) => self.value(&awaited.base),
            Expr::MethodCall(call)
                if passes_on(&call.method.to_string(), may_be_owned(self.answer)) =>
            {
                let made = made_by(call);
                // What a closure makes of nothing is no part of what the method is called on.
                if made.is_none_or(|it| call.method == "or_else" || uses_input(it)) {
                    self.value(&call.receiver);
                }
                if let Some(closure) = made {
                    self.value(&closure.body);
                }
            }
            Expr::MethodCall(call)
                if self.held.is_unique()
                    && call.method.to_string().ends_with("_mut")
                    && self.root(&call.receiver).is_some() =>
            {
                self.found(&call.receiver, expr, How::Uniquely);
            }
            Expr::MethodCall(call) => {
                let start = if may_be_owned(self.answer) {
                    &call.receiver
                } else {
                    start_of_chain(&call.receiver)
                };
                // What a variable is made into is a part of that, and so is what has the lifetime of one.
                let is_into = call.method.to_string().starts_with("into_");
                if (is_into || self.has_lifetime && self.is_made_by_a_method(start))
                    && let Some(value) = self.local(start)
                {
                    self.value(value);
                }
                // One behind a `&` is the likeliest to be no more than an argument.
                self.arguments(expr, &call.args, false);
                self.found(start, expr, self.how(call));
                self.arguments(expr, &call.args, true);
            }
            Expr::Call(call) if is_constructor(&call.func) => self.part(expr),
            Expr::Call(call) => self.all_arguments(expr, &call.args),
            Expr::Path(_) if self.root(expr).is_some() => {
                // Where a shared reference is expected this is one.
                let how = if self.held.is_unique() {
                    How::Uniquely
                } else {
                    How::Perhaps
                };
                self.found(expr, expr, how);
            }
            Expr::Path(_) if self.is_reference(expr) => self.found(expr, expr, How::Shared),
            Expr::Path(_) => {
                if let Some(value) = self.local(expr) {
                    self.value(value);
                }
            }
            _ => self.part(expr),
        }
    }

    /// A part of that value.
    fn part(&mut self, expr: &Expr) {
        if let Some(ends) = ends(expr) {
            return ends.into_iter().for_each(|end| self.part(end));
        }
        match expr {
            Expr::Paren(paren) => self.part(&paren.expr),
            Expr::Tuple(tuple) => self.parts(tuple.elems.iter()),
            Expr::Struct(built) => self.parts(built.fields.iter().map(|it| &it.expr)),
            Expr::Reference(borrow) if self.chain_of(borrow).is_some() => {
                if let Some(chain) = self.chain_of(borrow) {
                    let start = start_of_chain(&chain.receiver);
                    self.found(start, expr, self.how(chain));
                }
            }
            Expr::Reference(borrow)
                if self.has_lifetime && self.is_made_by_a_method(&borrow.expr) =>
            {
                if let Some(value) = self.local(&borrow.expr) {
                    self.value(value);
                }
            }
            Expr::Reference(borrow) if borrow.mutability.is_some() => {
                self.found(&borrow.expr, expr, How::Uniquely);
            }
            Expr::Reference(borrow) => self.found(&borrow.expr, expr, How::Shared),
            Expr::Call(call) if is_constructor(&call.func) => match call.args.first() {
                // All that holds a borrow.
                Some(only) if call.args.len() == 1 => {
                    let argument = if is_of(&call.func, &["Ok", "Some"]) {
                        ArgumentOf::Call
                    } else {
                        ArgumentOf::Constructor
                    };
                    let before = std::mem::replace(&mut self.argument, argument);
                    self.value(only);
                    self.argument = before;
                }
                _ => call.args.iter().for_each(|it| self.part(it)),
            },
            Expr::Call(call) => self.all_arguments(expr, &call.args),
            Expr::Path(_) if self.is_reference(expr) => self.found(expr, expr, How::Shared),
            Expr::Path(_) => match self.local(expr) {
                Some(value) => self.part(value),
                None => self.found(expr, expr, How::Perhaps),
            },
            // What a method makes of a `self` by value may hold it.
            Expr::MethodCall(call) if self.is_receiver_by_value(&call.receiver) => {
                self.found(&call.receiver, expr, How::ByType);
            }
            Expr::Field(_) => self.found(expr, expr, How::Field),
            Expr::Try(tried) => self.part(&tried.expr),
            Expr::Await(awaited) => self.part(&awaited.base),
            _ => {}
        }
    }

    fn is_receiver_by_value(&self, expr: &Expr) -> bool {
        let is_it = |it: &Borrowed| it.is_receiver_by_value;
        matches!(expr, Expr::Path(_)) && self.root(expr).is_some_and(is_it)
    }

    /// How a chain of methods borrows what it starts with.
    fn how(&self, chain: &ExprMethodCall) -> How {
        // Whether it takes `&self` or `&mut self`, the reference is one of the receiver.
        if self.is_reference && matches!(*chain.receiver, Expr::Path(_) | Expr::Field(_)) {
            How::Shared
        } else {
            how_of(chain)
        }
    }

    /// The chain of methods that gave what is borrowed, or by `&` the variable of which it is a part.
    fn chain_of<'e>(&self, borrow: &'e syn::ExprReference) -> Option<&'e ExprMethodCall>
    where
        'a: 'e,
    {
        chain_in(&borrow.expr).or_else(|| {
            let name = base(&borrow.expr)?;
            let (_, value) = *self.locals.iter().find(|(local, _)| *local == name)?;
            let chain = chain_in(value).filter(|it| how_of(it) == How::Shared);
            chain.filter(|_| borrow.mutability.is_none())
        })
    }

    /// The parts of a value: a single one that may borrow is all that does.
    fn parts<'e, I>(&mut self, parts: I)
    where
        I: Iterator<Item = &'e Expr> + Clone,
    {
        let mut borrows = parts.clone().filter(|it| !is_value(it));
        match (borrows.next(), borrows.next()) {
            (Some(only), None) => self.value(only),
            _ => parts.for_each(|it| self.part(it)),
        }
    }

    fn all_arguments(&mut self, call: &Expr, arguments: &Punctuated<Expr, Token![,]>) {
        self.arguments(call, arguments, false);
        self.arguments(call, arguments, true);
    }

    /// What a call gets, and may return a part of: those behind a `&`, or the others.
    fn arguments(&mut self, call: &Expr, arguments: &Punctuated<Expr, Token![,]>, shared: bool) {
        let is_shared =
            |it: &Expr| matches!(it, Expr::Reference(borrow) if borrow.mutability.is_none());
        for argument in arguments.iter().filter(|it| is_shared(it) == shared) {
            match argument {
                Expr::Path(_) => self.found(argument, call, How::Perhaps),
                Expr::Reference(borrow) if borrow.mutability.is_some() => {
                    // What is known of an `impl Trait` is what it borrows.
                    let how = if self.is_opaque {
                        How::Uniquely
                    } else {
                        How::Perhaps
                    };
                    self.found(argument, call, how);
                }
                Expr::Reference(_) => self.part(argument),
                Expr::MethodCall(_) => {
                    if let Expr::MethodCall(call) = passed_on(argument)
                        && how_of(call) == How::Shared
                    {
                        self.found(&call.receiver, argument, How::Shared);
                    }
                }
                Expr::Call(part) if is_constructor(&part.func) => self.part(argument),
                // Beside values that borrow nothing, it is what the answer borrows.
                Expr::Field(_) if arguments.iter().all(|it| it == argument || is_value(it)) => {
                    self.found(argument, call, How::Perhaps);
                }
                _ => {}
            }
        }
    }

    /// Notes a borrow of a place, if it is a part of a parameter.
    fn found(&mut self, place: &Expr, borrow: &Expr, how: How) {
        let start = self.borrow_in(place);
        let (place, is_unique) = match (place, start) {
            (Expr::Reference(borrow), _) => (&*borrow.expr, false),
            (_, Some(start)) => {
                let is_part = self.argument == ArgumentOf::Constructor;
                (place, is_part && start.mutability.is_some())
            }
            (_, None) => (place, false),
        };
        let matched = self.matched_by(place);
        let Some(parameter) = self.root(matched.unwrap_or(place)) else {
            return;
        };
        let how = if parameter.is_receiver_by_value && how != How::Field {
            How::ByType
        } else {
            how
        };
        let user = matched.unwrap_or(borrow).to_token_stream();
        let place_of_borrow = match how {
            How::Field => self.unaliased(borrow),
            _ => borrow.to_token_stream(),
        };
        let is_part = matches!(borrow, Expr::Path(_) | Expr::Field(_) | Expr::Reference(_));
        self.found.push(Found {
            how,
            is_unique,
            start: start.map(quote::ToTokens::to_token_stream),
            is_part,
            part: self.part_of(&parameter.name, matched.unwrap_or(place)),
            user: (how != How::Shared && !parameter.is_owned).then_some(user),
            ..Found::in_answer(parameter, place_of_borrow)
        });
    }

    /// The borrow that the variable is of which a place is a part.
    fn borrow_in(&self, place: &Expr) -> Option<&'a syn::ExprReference> {
        let name = base(place)?;
        match self.locals.iter().find(|(local, _)| *local == name) {
            Some((_, Expr::Reference(borrow))) => Some(borrow),
            _ => None,
        }
    }

    /// A field of a parameter by its own name, which means the same in front of the body.
    fn unaliased(&self, place: &Expr) -> TokenStream {
        let mut tokens = place.to_token_stream();
        if let Some(local) = base(place)
            && let Some(name) = self.alias(local)
        {
            let mut own = name.clone();
            own.set_span(own.span().located_at(local.span()));
            let fields = tokens.into_iter().skip(1);
            tokens = [own.into()].into_iter().chain(fields).collect();
        }
        tokens
    }

    /// What a variable of the body is, which is no answer by itself.
    fn local(&mut self, variable: &Expr) -> Option<&'a Expr> {
        let Expr::Path(path) = variable else {
            return None;
        };
        let name = path.path.get_ident()?;
        let locals = self.locals.iter().map(|(local, value)| (*local, *value));
        let values = self.matched.iter().filter(|it| !it.is_reference);
        let matched = values.map(|it| (&it.name, it.value));
        let mut known = locals.chain(matched);
        let (_, value) = known.find(|(local, _)| *local == name)?;
        // Each once: it may be made of itself.
        self.locals.retain(|(local, _)| *local != name);
        self.matched.retain(|it| it.name != *name);
        Some(value)
    }

    /// Whether a variable is what a method of a parameter gave.
    fn is_made_by_a_method(&self, variable: &Expr) -> bool {
        let is_it = |(local, _): &&(&Ident, &Expr)| base(variable) == Some(local);
        let value = self.locals.iter().find(is_it);
        let is_call = |value: &Expr| match value {
            Expr::MethodCall(call) => self.root(start_of_chain(&call.receiver)).is_some(),
            _ => false,
        };
        value.is_some_and(|(_, value)| match passed_on(value) {
            Expr::Await(awaited) => is_call(&awaited.base),
            value => is_call(value),
        })
    }

    /// Whether a variable of a pattern is `ref`.
    fn is_reference(&self, variable: &Expr) -> bool {
        let Expr::Path(path) = variable else {
            return false;
        };
        let is_it = |it: &Matched<'_>| it.is_reference && path.path.is_ident(&it.name);
        self.matched.iter().any(is_it)
    }

    /// The borrowed parameter that a place is a part of, if nothing but the parameter itself is dereferenced.
    fn root(&self, place: &Expr) -> Option<&'a Borrowed> {
        match place {
            Expr::Path(path) => {
                let name = path.path.get_ident()?;
                let parameter = self.borrowed.iter().find(|it| it.name == *name);
                parameter.or_else(|| self.root_of_variable(name))
            }
            Expr::Field(field) => self.root(&field.base),
            Expr::Index(index) => self.root(&index.expr),
            Expr::Paren(paren) => self.root(&paren.expr),
            Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
                (syn::UnOp::Deref(_), base @ Expr::Path(_)) => self.root(base),
                _ => None,
            },
            _ => None,
        }
    }
}

impl<'a> Walk<'a> {
    /// The same of a variable that is another name for it, as in `let all: &mut Reader<dyn Read> = self;`.
    fn root_of_variable(&self, name: &Ident) -> Option<&'a Borrowed> {
        let name = self.alias(name)?;
        self.borrowed.iter().find(|it| it.name == *name)
    }

    /// What a variable is another name for.
    fn alias(&self, name: &Ident) -> Option<&'a Ident> {
        let (_, value) = self.locals.iter().find(|(local, _)| *local == name)?;
        match value {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        }
    }

    /// The fields of a parameter that lead to a place, which may go by another name.
    fn part_of(&self, name: &Ident, place: &Expr) -> Vec<String> {
        let tokens = place.to_token_stream();
        let part = apart::part_of(name, &tokens).or_else(|| {
            let mut names = self.locals.iter().map(|(local, _)| *local);
            let local = names.find(|local| self.alias(local) == Some(name))?;
            apart::part_of(local, &tokens)
        });
        part.unwrap_or_default()
    }

    /// What a place, or what it is a part of, comes from: by a pattern, or by a variable that is a `&mut` of it.
    fn matched_by(&self, place: &Expr) -> Option<&'a Expr> {
        match place {
            Expr::Path(path) => {
                let name = path.path.get_ident()?;
                if let Some(matched) = self.matched.iter().find(|it| it.name == *name) {
                    return Some(match matched.value {
                        Expr::Reference(borrow) => &borrow.expr,
                        matched => matched,
                    });
                }
                let (_, value) = *self.locals.iter().find(|(local, _)| *local == name)?;
                match value {
                    Expr::Reference(borrow) => Some(&borrow.expr),
                    _ => None,
                }
            }
            Expr::Field(field) => self.matched_by(&field.base),
            Expr::Index(index) => self.matched_by(&index.expr),
            _ => None,
        }
    }
}

/// Whether a closure makes anything of what it gets.
fn uses_input(closure: &ExprClosure) -> bool {
    let mut inputs = closure.inputs.iter().flat_map(names_in);
    inputs.any(|it| apart::is_used(&it, &closure.body.to_token_stream()))
}
