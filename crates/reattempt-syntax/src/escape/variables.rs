//! The variables of a body: which names it binds, and what they stand for.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{Expr, Item, Local, Pat, Stmt};

use crate::item::has_word;
use crate::moves::any_name;

/// The names that a body binds: they may hide a parameter.
pub(super) struct Bound(pub(super) Vec<Ident>);

impl Bound {
    pub(super) fn by(statements: &[&Stmt]) -> Self {
        let mut bound = Self(Vec::new());
        for statement in statements {
            bound.visit_stmt(statement);
        }
        bound
    }

    fn all_in(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => self.0.push(name),
                TokenTree::Group(group) => self.all_in(group.stream()),
                _ => {}
            }
        }
    }

    pub(super) fn has(&self, name: &Ident) -> bool {
        self.0.contains(name)
    }

    /// Whether an expression means the same in front of the body.
    pub(super) fn leaves_alone(&self, expr: &TokenStream) -> bool {
        let is_bound = |name: &str, is_start: bool| is_start && self.0.iter().any(|it| it == name);
        !any_name(expr, &is_bound)
    }
}

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.0.push(pat.ident.clone());
        visit::visit_pat_ident(self, pat);
    }

    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Const(it) => self.0.push(it.ident.clone()),
            Item::Enum(it) => self.0.push(it.ident.clone()),
            Item::Fn(it) => self.0.push(it.sig.ident.clone()),
            Item::Static(it) => self.0.push(it.ident.clone()),
            Item::Struct(it) => self.0.push(it.ident.clone()),
            Item::Impl(_) => {}
            item => self.all_in(item.to_token_stream()),
        }
    }
}

/// The names that a pattern binds.
pub(crate) fn names_in(pattern: &Pat) -> Vec<Ident> {
    let mut bound = Bound(Vec::new());
    bound.visit_pat(pattern);
    bound.0
}

/// A pattern, and what it takes apart.
pub(super) struct Binding<'a> {
    pattern: &'a Pat,
    pub(super) value: &'a Expr,
    /// That of the statement around it.
    pub(super) index: usize,
}

impl<'a> Binding<'a> {
    /// Returns those of a body.
    pub(super) fn in_all(statements: &'a [Stmt]) -> Vec<Self> {
        struct Bindings<'a>(Vec<Binding<'a>>, usize);
        impl<'a> Visit<'a> for Bindings<'a> {
            fn visit_local(&mut self, local: &'a Local) {
                if let Some(init) = &local.init {
                    self.add(&local.pat, &init.expr);
                }
                visit::visit_local(self, local);
            }
            fn visit_expr_match(&mut self, chosen: &'a syn::ExprMatch) {
                for arm in &chosen.arms {
                    self.add(&arm.pat, &chosen.expr);
                }
                visit::visit_expr_match(self, chosen);
            }
            fn visit_expr_let(&mut self, matched: &'a syn::ExprLet) {
                self.add(&matched.pat, &matched.expr);
                visit::visit_expr_let(self, matched);
            }
        }
        impl<'a> Bindings<'a> {
            fn add(&mut self, pattern: &'a Pat, value: &'a Expr) {
                let Self(all, index) = self;
                all.push(Binding {
                    pattern,
                    value,
                    index: *index,
                });
            }
        }
        let mut bindings = Bindings(Vec::new(), 0);
        for (index, statement) in statements.iter().enumerate() {
            bindings.1 = index;
            bindings.visit_stmt(statement);
        }
        bindings.0
    }

    /// Returns the variables.
    pub(super) fn names(&self) -> Vec<Ident> {
        names_in(self.pattern)
    }

    /// The only variable, which is all of the value.
    pub(super) fn variable(&self) -> Option<&'a Ident> {
        variable(self.pattern)
    }
}

/// A variable of patterns that stands for one thing wherever it stands.
#[derive(Clone)]
pub(super) struct Matched<'a> {
    pub(super) name: Ident,
    /// What is matched.
    pub(super) value: &'a Expr,
    /// Whether it is a reference to a part of that, by `ref`.
    pub(super) is_reference: bool,
}

/// Returns those of a body.
pub(super) fn matched<'a>(statements: &'a [Stmt], bound: &Bound) -> Vec<Matched<'a>> {
    let mut bindings = Binding::in_all(statements);
    bindings.retain(|it| it.variable().is_none());
    let named = |it: &Binding<'a>| {
        let value = it.value;
        let is_reference = has_word(&it.pattern.to_token_stream(), "ref");
        // Beside a reference the others are copies.
        let names = if is_reference {
            references(it.pattern)
        } else {
            it.names()
        };
        names.into_iter().map(move |name| Matched {
            name,
            value,
            is_reference,
        })
    };
    let all: Vec<_> = bindings.iter().flat_map(named).collect();
    let is_one = |one: &&Matched<'_>| {
        let is_same = |it: &&Matched<'_>| it.name == one.name && it.value == one.value;
        let same = all.iter().filter(is_same);
        same.count() == bound.0.iter().filter(|it| **it == one.name).count()
    };
    all.iter().filter(is_one).cloned().collect()
}

/// The variables of a pattern that are `ref`.
fn references(pattern: &Pat) -> Vec<Ident> {
    struct References(Vec<Ident>);
    impl<'ast> Visit<'ast> for References {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            if pat.by_ref.is_some() && pat.mutability.is_none() {
                self.0.push(pat.ident.clone());
            }
            visit::visit_pat_ident(self, pat);
        }
    }
    let mut references = References(Vec::new());
    references.visit_pat(pattern);
    references.0
}

/// The variable of a statement such as `let x = ..;`, and its value.
pub(crate) fn plain(local: &Local) -> Option<(&Ident, &Expr)> {
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    Some((variable(&local.pat)?, &*init.expr))
}

/// The only variable of a pattern, which takes the value.
fn variable(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Type(typed) => variable(&typed.pat),
        Pat::Ident(name) if name.by_ref.is_none() => Some(&name.ident),
        _ => None,
    }
}
