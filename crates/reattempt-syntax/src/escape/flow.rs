//! A unique borrow that flows into an answer such as `Entry<'_, R>`, through variables and calls: by its type it holds
//! what it reads from.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{Expr, FnArg, GenericArgument, Pat, PathArguments, Signature, Stmt, Type};

use super::Borrowed;
use super::variables::Bound;
use crate::item::{has_word, is_one_letter, names};
use crate::moves::reads_in_place;

/// Returns the first unique borrow of `source` that an answer is made of.
pub(super) fn place(
    signature: &Signature,
    answer: &Type,
    source: &Borrowed,
    statements: &[Stmt],
    successes: &[TokenStream],
) -> Option<TokenStream> {
    if !wraps(signature, answer, &source.name) {
        return None;
    }
    let lender = lender(signature, &source.name);
    let is_read = lender.is_some_and(|ty| reads_in_place(signature, ty));
    let mut flow = Flow {
        source: &source.name,
        any_use: is_read,
        names: Vec::new(),
        perhaps: Vec::new(),
        first: None,
    };
    for statement in statements {
        flow.passes(statement);
    }
    let success = successes.iter().find(|it| flow.answers(it))?;
    Some(flow.first.unwrap_or_else(|| success.clone()))
}

/// Whether an answer has a lifetime beside a type that only this parameter brings.
pub(super) fn wraps(signature: &Signature, answer: &Type, source: &Ident) -> bool {
    let mut wraps = Wraps {
        signature,
        lender: lender(signature, source),
        found: false,
    };
    wraps.visit_type(answer);
    wraps.found
}

/// What a parameter that is a reference points to; that of `self` stands in the `impl` block.
fn lender<'s>(signature: &'s Signature, source: &Ident) -> Option<&'s Type> {
    signature.inputs.iter().find_map(|input| match input {
        FnArg::Typed(typed) => match (&*typed.pat, &*typed.ty) {
            (Pat::Ident(name), Type::Reference(it)) if name.ident == *source => Some(&*it.elem),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    })
}

/// Whether a type has a lifetime beside a type that its lender knows: the parameter of an `impl` block, or the lender.
struct Wraps<'s> {
    signature: &'s Signature,
    lender: Option<&'s Type>,
    found: bool,
}

impl Wraps<'_> {
    /// Whether the lender alone has a type parameter.
    fn brings_alone(&self, name: &Ident) -> bool {
        let has_it = |tokens: TokenStream| names(&tokens, name);
        let inputs = self.signature.inputs.iter();
        let users = inputs.filter(|input| has_it(input.to_token_stream()));
        let is_lender = self.lender.is_some_and(|it| has_it(it.to_token_stream()));
        is_lender && users.count() == 1
    }
}

impl<'ast> Visit<'ast> for Wraps<'_> {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        if let PathArguments::AngleBracketed(arguments) = &segment.arguments {
            let is_lifetime = |it: &GenericArgument| matches!(it, GenericArgument::Lifetime(_));
            let is_known = |it: &GenericArgument| {
                let GenericArgument::Type(ty) = it else {
                    return false;
                };
                let Type::Path(path) = ty else { return false };
                let mut own = self.signature.generics.type_params();
                self.lender == Some(ty)
                    || (path.path.get_ident()).is_some_and(|name| {
                        let is_of_block = own.all(|param| param.ident != *name);
                        is_of_block && is_one_letter(name) || self.brings_alone(name)
                    })
            };
            let mut all = arguments.args.iter();
            self.found |= all.clone().any(is_lifetime) && all.any(is_known);
        }
        visit::visit_path_segment(self, segment);
    }
}

/// The variables that hold a unique borrow, or what a call has made of one.
struct Flow<'s> {
    source: &'s Ident,
    /// Whether any use of the source is one.
    any_use: bool,
    names: Vec<Ident>,
    /// What calls that may fail have made of one: a value, such as a number of bytes, if the answer borrows by itself.
    perhaps: Vec<Ident>,
    /// What the first of them is.
    first: Option<TokenStream>,
}

impl Flow<'_> {
    fn passes(&mut self, statement: &Stmt) {
        let Stmt::Local(local) = statement else {
            return;
        };
        let Some(init) = &local.init else { return };
        let value = init.expr.to_token_stream();
        let is_made_of_it = self.is_in(&value);
        let may_be_value = matches!(*init.expr, Expr::Try(_) | Expr::Binary(_));
        let is_perhaps = is_made_of_it && may_be_value || self.is_perhaps(&value);
        let mut bound = Bound::in_pattern(&local.pat);
        self.names.retain(|it| !bound.contains(it));
        self.perhaps.retain(|it| !bound.contains(it));
        // A variable of its name is no longer the source.
        self.any_use &= !bound.contains(self.source);
        if is_made_of_it || is_perhaps {
            self.first.get_or_insert(value);
            let into = if is_perhaps {
                &mut self.perhaps
            } else {
                &mut self.names
            };
            into.append(&mut bound);
        }
    }

    fn answers(&self, success: &TokenStream) -> bool {
        self.is_in(success) || self.is_perhaps(success) && !names(success, self.source)
    }

    fn is_perhaps(&self, tokens: &TokenStream) -> bool {
        self.perhaps.iter().any(|name| names(tokens, name))
    }

    fn is_in(&self, tokens: &TokenStream) -> bool {
        self.names.iter().any(|name| names(tokens, name))
            || self.any_use && names(tokens, self.source)
            || has_word(tokens, "mut") && borrows(tokens, self.source)
    }
}

/// Whether `&mut source` stands among the tokens.
fn borrows(tokens: &TokenStream, source: &Ident) -> bool {
    let (mut is_sign, mut is_borrow) = (false, false);
    tokens.clone().into_iter().any(|token| {
        let found = match &token {
            TokenTree::Group(group) => borrows(&group.stream(), source),
            TokenTree::Ident(name) => is_borrow && name == source,
            _ => false,
        };
        is_borrow = is_sign && matches!(&token, TokenTree::Ident(word) if word == "mut");
        is_sign = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '&');
        found
    })
}
