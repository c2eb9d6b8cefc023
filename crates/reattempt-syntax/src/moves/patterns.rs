//! What patterns bind.

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Macro, Pat};

use super::{By, is_constant};

/// A pattern without its type and its condition.
pub(super) fn bare(pattern: &Pat) -> &Pat {
    match pattern {
        Pat::Guard(guarded) => bare(&guarded.pat),
        Pat::Type(typed) => bare(&typed.pat),
        Pat::Paren(paren) => bare(&paren.pat),
        _ => pattern,
    }
}

/// The variables that a pattern binds, unless it borrows some of them.
pub(super) fn bound_by(pattern: &Pat) -> Option<By> {
    struct Names {
        names: Vec<Ident>,
        is_plain: bool,
    }
    impl<'ast> Visit<'ast> for Names {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            if !is_constant(&pat.ident) && !self.names.contains(&pat.ident) {
                self.names.push(pat.ident.clone());
            }
            self.is_plain &= pat.by_ref.is_none() && pat.subpat.is_none();
            visit::visit_pat_ident(self, pat);
        }
        fn visit_macro(&mut self, _: &'ast Macro) {
            self.is_plain = false;
        }
    }
    let mut bound = Names {
        names: Vec::new(),
        is_plain: true,
    };
    bound.visit_pat(pattern);
    match bound {
        _ if bound.names.is_empty() => None,
        Names {
            is_plain: false, ..
        } => Some(By::Other),
        bound => Some(By::Patterns(vec![(quote::quote!(#pattern), bound.names)])),
    }
}

/// Whether a pattern is a variable, which takes all of the value.
pub(super) fn is_variable(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(it) => it.by_ref.is_none() && it.subpat.is_none() && !is_constant(&it.ident),
        _ => false,
    }
}
