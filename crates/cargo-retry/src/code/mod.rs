//! The code of a workspace as it is written: packages, modules, names. Nothing is compiled, and no `cfg` is decided.

pub(crate) mod conditions;
mod files;
mod globs;
pub(crate) mod loose;
pub(crate) mod modules;
pub(crate) mod names;
pub(crate) mod nested;
pub(crate) mod uses;
pub(crate) mod workspace;

use std::path::PathBuf;
use std::rc::Rc;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned as _;

/// A file, as its places are shown.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct File {
    /// From the root of the workspace, with `/`.
    pub(crate) shown: String,
    pub(crate) path: PathBuf,
}

/// Where something stands: lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) file: Rc<File>,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Place {
    pub(crate) fn of(file: &Rc<File>, span: Span) -> Self {
        let start = span.start();
        Self {
            file: Rc::clone(file),
            line: start.line,
            column: start.column.saturating_add(1),
        }
    }
}

/// What cannot be read, which is no reason to stop.
#[derive(Debug)]
pub(crate) struct Unread {
    pub(crate) place: Place,
    pub(crate) why: String,
    /// Whether the rest of the file was read.
    pub(crate) is_part: bool,
}

impl Unread {
    /// Why, and what follows from it.
    pub(crate) fn reported(&self) -> String {
        let lost = if self.is_part {
            "what cannot be read is not listed"
        } else {
            "what is in it is not listed"
        };
        format!("{}; {lost}", self.why)
    }
}

/// As written, on one line.
pub(crate) fn written(tokens: &impl ToTokens) -> String {
    let tokens = tokens.to_token_stream();
    let text = join(&tokens).or_else(|| tokens.span().source_text());
    let text = text.unwrap_or_else(|| tokens.to_string());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The source between the first and the last token.
fn join(tokens: &TokenStream) -> Option<String> {
    let mut list = tokens.clone().into_iter();
    let first = list.next()?.span();
    let end = list.last().map_or(first, |token| token.span());
    first.join(end)?.source_text()
}
