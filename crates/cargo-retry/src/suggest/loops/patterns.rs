//! Patterns of errors: what they bind, and how they stand where the error is a reference.

use std::collections::BTreeSet;

use syn::visit::Visit;
use syn::{Member, Pat};

use crate::code::written;

/// What the pattern of an arm says of a result.
pub(super) enum Of<'a> {
    Success,
    /// An error, of this pattern.
    Error(&'a Pat),
    /// Whatever it is.
    Any,
    /// Not a pattern of a result.
    Other,
}

pub(super) fn of_result(pattern: &Pat) -> Vec<Of<'_>> {
    match pattern {
        Pat::TupleStruct(it) => {
            let name = it.path.segments.last().map(|it| it.ident.to_string());
            match (name.as_deref(), it.elems.first()) {
                (Some("Ok"), _) => vec![Of::Success],
                (Some("Err"), Some(error)) => vec![Of::Error(error)],
                _ => vec![Of::Other],
            }
        }
        Pat::Or(it) => it.cases.iter().flat_map(of_result).collect(),
        Pat::Paren(it) => of_result(&it.pat),
        Pat::Reference(it) => of_result(&it.pat),
        Pat::Guard(it) => of_result(&it.pat),
        Pat::Ident(it) => match &it.subpat {
            Some((_, inner)) => of_result(inner),
            None => vec![Of::Any],
        },
        Pat::Wild(_) => vec![Of::Any],
        _ => vec![Of::Other],
    }
}

/// Whether everything matches it.
pub(super) fn is_any(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(it) => it.subpat.is_none() && !is_constant(&it.ident),
        Pat::Paren(it) => is_any(&it.pat),
        Pat::Reference(it) => is_any(&it.pat),
        Pat::Type(it) => is_any(&it.pat),
        _ => false,
    }
}

/// Whether it tells a success from a failure at most: `Ok(_)`, `Err(error)`.
pub(in crate::suggest) fn tells_no_error(pattern: &Pat) -> bool {
    of_result(pattern).into_iter().all(|it| match it {
        Of::Success | Of::Any => true,
        Of::Error(error) => is_any(error),
        Of::Other => false,
    })
}

/// The name that the whole is bound to.
pub(super) fn name(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Ident(it) if is_any(pattern) => Some(it.ident.to_string()),
        Pat::Paren(it) => name(&it.pat),
        Pat::Reference(it) => name(&it.pat),
        Pat::Type(it) => name(&it.pat),
        _ => None,
    }
}

/// What it binds by value, and what by reference.
#[derive(Default)]
pub(in crate::suggest) struct Bound {
    pub(in crate::suggest) values: BTreeSet<String>,
    pub(in crate::suggest) references: BTreeSet<String>,
}

impl Bound {
    pub(in crate::suggest) fn of(pattern: &Pat) -> Self {
        let mut bound = Self::default();
        bound.visit_pat(pattern);
        bound
    }

    pub(in crate::suggest) fn all(&self) -> BTreeSet<String> {
        self.values.union(&self.references).cloned().collect()
    }
}

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, it: &'ast syn::PatIdent) {
        if it.subpat.is_some() || !is_constant(&it.ident) {
            let names = match it.by_ref {
                Some(_) => &mut self.references,
                None => &mut self.values,
            };
            names.insert(it.ident.to_string());
        }
        syn::visit::visit_pat_ident(self, it);
    }
}

/// `NONE`, `None`: a value that is compared with.
fn is_constant(name: &syn::Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

fn unparenthesized(pattern: &Pat) -> &Pat {
    match pattern {
        Pat::Paren(it) => unparenthesized(&it.pat),
        pattern => pattern,
    }
}

/// The pattern without the names that nothing uses, and without `ref` and `mut`.
pub(super) fn shown(pattern: &Pat, used: &BTreeSet<String>) -> String {
    let all = |patterns: &mut dyn Iterator<Item = &Pat>, between: &str| {
        let texts: Vec<_> = patterns.map(|it| shown(it, used)).collect();
        texts.join(between)
    };
    match pattern {
        Pat::Ident(it) => {
            let name = it.ident.to_string();
            let is_used = used.contains(&name) || is_constant(&it.ident);
            match &it.subpat {
                Some((_, inner)) if is_used => match unparenthesized(inner) {
                    Pat::Or(_) => format!("{name} @ ({})", shown(inner, used)),
                    inner => format!("{name} @ {}", shown(inner, used)),
                },
                Some((_, inner)) => shown(inner, used),
                None if is_used => name,
                None => "_".to_owned(),
            }
        }
        Pat::TupleStruct(it) => {
            let inner = all(&mut it.elems.iter(), ", ");
            let inner = if inner.split(", ").all(|it| it == "_") {
                ".."
            } else {
                &inner
            };
            let inner = if it.elems.len() == 1 && inner == ".." {
                "_"
            } else {
                inner
            };
            format!("{}({inner})", written(&it.path))
        }
        Pat::Struct(it) => {
            let fields = it.fields.iter().filter_map(|field| {
                let inner = shown(&field.pat, used);
                let Member::Named(name) = &field.member else {
                    return Some(written(field));
                };
                match inner.as_str() {
                    "_" => None,
                    _ if *name == inner => Some(inner),
                    _ => Some(format!("{name}: {inner}")),
                }
            });
            let mut fields: Vec<_> = fields.collect();
            if it.rest.is_some() || fields.len() < it.fields.len() {
                fields.push("..".to_owned());
            }
            format!("{} {{ {} }}", written(&it.path), fields.join(", "))
        }
        Pat::Tuple(it) => format!("({})", all(&mut it.elems.iter(), ", ")),
        Pat::Or(it) => all(&mut it.cases.iter(), " | "),
        Pat::Paren(it) => shown(&it.pat, used),
        Pat::Reference(it) => shown(&it.pat, used),
        other => written(other),
    }
}
