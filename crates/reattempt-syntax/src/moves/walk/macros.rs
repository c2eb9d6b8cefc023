//! What macros do with the parameters that stand in them, as far as their names tell.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::visit::Visit as _;
use syn::{Expr, Macro, Pat, Token, token};

use super::super::words::{BORROWS, ENDS, LOGS, MESSAGES, TAKES, formatted};
use super::super::{By, Owned, Way};
use super::{Ended, Walk};
use crate::item::names;

impl<'o> Walk<'o> {
    /// A macro that is a value, or may be one.
    pub(super) fn macro_call(&mut self, call: &Macro) {
        let name = name_of(call);
        if matches!(&*name, "bail" | "ensure" | "try_join") {
            self.may_end(Ended::InFailure);
        }
        // The last arguments of a format stand in its string.
        if BORROWS.contains(&&*name) || LOGS.contains(&&*name) {
            for name in formatted(&call.tokens) {
                self.visit_expr(&syn::parse_quote!(#name));
            }
        }
        if name == "select" {
            return self.select(call);
        }
        let takes = TAKES.contains(&&*name);
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(call.tokens.clone());
        let arguments = match arguments {
            Ok(arguments) if takes || BORROWS.contains(&&*name) => arguments,
            // An error is passed on; a format borrows.
            Ok(arguments) if MESSAGES.contains(&&*name) && arguments.len() == 1 => {
                return self.values(&arguments);
            }
            Ok(arguments) => {
                for argument in arguments {
                    let place = argument.to_token_stream();
                    match self.root(&argument) {
                        // One of the user's own takes what it is given, as a function does.
                        Some((owned, false)) => self.perhaps_moved(owned, place, By::Other),
                        _ => self.perhaps_among(&place),
                    }
                }
                return;
            }
            Err(_) => return self.perhaps_among(&call.tokens),
        };
        for argument in arguments {
            match &argument {
                _ if takes => self.value(&argument),
                Expr::Assign(named) => self.visit_expr(&named.right),
                _ => self.visit_expr(&argument),
            }
        }
    }

    /// A macro that is a statement, which may bind names. Returns whether nothing behind it runs.
    pub(super) fn macro_statement(&mut self, call: &Macro) -> bool {
        self.macro_call(call);
        let name = name_of(call);
        let is_known = [BORROWS, LOGS, MESSAGES]
            .iter()
            .any(|it| it.contains(&&*name));
        if !ends(call) && !is_known && name != "select" {
            self.hidden_by(&call.tokens);
        }
        ends(call)
    }

    /// Tokens that may bind names which what follows means.
    pub(in crate::moves) fn hidden_by(&mut self, tokens: &TokenStream) {
        self.perhaps_among(tokens);
        self.owned.retain(|owned| !names(tokens, &owned.name));
    }

    /// `tokio::select!`; one without a path may be that of `futures`, which borrows what it names.
    fn select(&mut self, call: &Macro) {
        let is_tokio = call.path.segments.iter().any(|it| it.ident == "tokio");
        let branches = match syn::parse2::<Branches>(call.tokens.clone()) {
            Ok(branches) if is_tokio => branches,
            _ => {
                for (owned, name) in self.named_in(&call.tokens) {
                    self.perhaps_moved(owned, name.to_token_stream(), By::Other);
                }
                return;
            }
        };
        for branch in &branches.branches {
            self.value(&branch.future);
            if let Some(condition) = &branch.condition {
                self.visit_expr(condition);
            }
        }
        self.may_end(Ended::InFailure);
        for branch in &branches.branches {
            self.scoped(|walk| {
                walk.visit_pat(&branch.pattern);
                walk.value(&branch.handler);
            });
        }
        self.optional(branches.otherwise.as_ref());
    }

    /// Tokens whose meaning nobody knows.
    pub(super) fn perhaps_among(&mut self, tokens: &TokenStream) {
        for (owned, name) in self.named_in(tokens) {
            self.unlikely(owned, name.to_token_stream());
        }
    }

    /// The parameters that stand among the tokens, and where.
    fn named_in(&self, tokens: &TokenStream) -> Vec<(&'o Owned, Ident)> {
        let owned = self.owned.iter().filter(|it| it.way != Way::Reborrowed);
        let named = owned.filter_map(|owned| Some((*owned, first(tokens, &owned.name)?)));
        named.collect()
    }
}

/// Whether nothing follows a macro.
pub(super) fn ends(call: &Macro) -> bool {
    ENDS.contains(&&*name_of(call))
}

fn name_of(call: &Macro) -> String {
    let last = call.path.segments.last();
    last.map(|last| last.ident.to_string()).unwrap_or_default()
}

/// The first of these names among the tokens.
fn first(tokens: &TokenStream, name: &Ident) -> Option<Ident> {
    tokens.clone().into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) if ident == *name => Some(ident),
        TokenTree::Group(group) => first(&group.stream(), name),
        _ => None,
    })
}

/// `PATTERN = FUTURE, if CONDITION => HANDLER`.
struct Branch {
    pattern: Pat,
    future: Expr,
    condition: Option<Expr>,
    handler: Expr,
}

/// What stands between the braces.
struct Branches {
    branches: Vec<Branch>,
    /// That of `else`.
    otherwise: Option<Expr>,
}

impl Parse for Branches {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek2(Token![;]) {
            input.parse::<Ident>()?;
            input.parse::<Token![;]>()?;
        }
        let (mut branches, mut otherwise) = (Vec::new(), None);
        while !input.is_empty() {
            if input.peek(Token![else]) {
                input.parse::<Token![else]>()?;
                otherwise = Some(handler(input)?);
                continue;
            }
            let pattern = Pat::parse_single(input)?;
            input.parse::<Token![=]>()?;
            let future = input.parse()?;
            let condition = if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
                input.parse::<Token![if]>()?;
                Some(input.parse()?)
            } else {
                None
            };
            branches.push(Branch {
                pattern,
                future,
                condition,
                handler: handler(input)?,
            });
        }
        Ok(Self {
            branches,
            otherwise,
        })
    }
}

/// `=> HANDLER`, with the comma behind it.
fn handler(input: ParseStream<'_>) -> syn::Result<Expr> {
    input.parse::<Token![=>]>()?;
    let handler = if input.peek(token::Brace) {
        Expr::Block(input.parse()?)
    } else {
        input.parse()?
    };
    if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
    }
    Ok(handler)
}
