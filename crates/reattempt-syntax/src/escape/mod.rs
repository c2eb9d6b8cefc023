//! Answers that hold a unique borrow of a parameter: the next attempt would need the same borrow.
//!
//! The signature shows which parameters an answer may borrow, the body which part of them it does. Where only types tell
//! whether an attempt needs that part by `&mut`, the compiler is asked of a copy of the body in which all else has another
//! name.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, FnArg, Signature, Stmt, Type};

use self::answer::{
    Borrowed, Held, borrowed_parameters, has_lifetime_argument, is_opaque, is_reference,
};
use self::apart::Use;
pub use self::apart::{Apart, StandIn};
use self::asked::Asked;
use self::chains::How;
use self::variables::Bound;
pub(crate) use self::variables::{names_in, plain};
use self::walk::Walk;
use crate::item::{has_condition, has_word, is_there_sometimes, names};
use crate::moves::{self, Move, conditions, declared};
use crate::rename::self_to;
use crate::tokens::is_error;

mod answer;
mod apart;
mod asked;
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
    /// Whether an attempt may fail, and not end otherwise, in a statement before it.
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
    let mut walk = Walk::new(&borrowed, &bound, &statements, (answer, &held));
    walk.is_opaque = is_opaque(answer);
    walk.is_reference = is_reference(answer);
    walk.has_lifetime = has_lifetime_argument(answer, |_| true);
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
    let sources = || borrowed.iter().chain(&hidden);
    let is_phantom = successes.iter().any(|it| has_word(it, "PhantomData"));
    let is_brought = |it: &&Borrowed| !is_phantom && held.is_brought_by(it, signature);
    let mut brought = sources().filter(is_brought);
    let escape = (brought.find_map(|it| asked.of_made(it, &statements, &successes, true)))
        .or_else(|| asked.of_all(found, &held, &successes))
        .or_else(|| sources().find_map(|it| asked.of_made(it, &statements, &successes, false)))?;
    let start = escape.start.as_ref().unwrap_or(&escape.place);
    let before: Vec<_> = statements
        .iter()
        .take_while(|it| is_before(it, start))
        .collect();
    let moves = before
        .iter()
        .map(quote::ToTokens::to_token_stream)
        .collect();
    let moves = moves::find(&moves, &moves::owned(signature, None)).with_unlikely();
    let mut perhaps = moves.possible.iter();
    // What has no copies is there once.
    let is_moved = !moves.certain.is_empty() || perhaps.any(Move::needs_bound);
    let before = Ends::by(&before);
    Some(Escape {
        // A block that ends with a success of the function has no value for what follows it.
        follows_failure: before.in_failure && !before.in_success && !is_moved,
        unless: asked.unless(&escape, &held),
        ..escape
    })
}

/// Hides what is compiled only sometimes: it may not be what answers.
struct Sometimes {
    may_return: bool,
}

impl Sometimes {
    /// Puts a value that borrows nothing in its place; gives up where it may end the body.
    fn hide(statements: &mut [Stmt]) -> Option<()> {
        let mut hidden = Self { may_return: false };
        for statement in statements.iter_mut() {
            hidden.visit_stmt_mut(statement);
        }
        (!hidden.may_return).then_some(())
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
            visit_mut::visit_stmt_mut(self, statement);
            // What has one in a macro, or in an arm of a `match`, is hidden with it.
            let rest = statement.to_token_stream();
            if !has_condition(&rest) {
                return;
            }
            self.may_return |= has_word(&rest, "return");
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

/// How statements may end an attempt.
#[derive(Default)]
struct Ends {
    in_failure: bool,
    in_success: bool,
}

impl Ends {
    fn by(statements: &[&Stmt]) -> Self {
        let mut ends = Self::default();
        for it in statements {
            ends.visit_stmt(it);
        }
        ends
    }
}

impl<'ast> Visit<'ast> for Ends {
    fn visit_expr_try(&mut self, _: &'ast syn::ExprTry) {
        self.in_failure = true;
    }

    fn visit_expr_return(&mut self, returned: &'ast syn::ExprReturn) {
        let is_failure = returned.expr.as_deref().is_some_and(is_error);
        self.in_failure |= is_failure;
        self.in_success |= !is_failure;
    }

    // What leaves these ends no attempt.
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
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
