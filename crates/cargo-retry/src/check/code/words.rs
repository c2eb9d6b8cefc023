//! What the code of a workspace names anywhere: time-outs that are set, and statics.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::Item;

use crate::code::modules::Code;
use crate::code::{File, Place};

/// Functions that limit how long an answer is waited for.
const TIMEOUTS: &[&str] = &[
    "timeout",
    "timeout_at",
    "timeout_global",
    "timeout_per_call",
    "timeout_recv_response",
    "read_timeout",
    "set_read_timeout",
    "response_timeout",
    "tcp_user_timeout",
];

#[derive(Default)]
pub(super) struct Words {
    /// Packages that set a time-out.
    limited: HashSet<String>,
    /// Where each name in capital letters stands, imports left out.
    statics: HashMap<String, HashSet<Place>>,
}

impl Words {
    pub(super) fn of(code: &Code) -> Self {
        let mut words = Self::default();
        for module in &code.modules {
            let package = code
                .crates
                .get(module.krate)
                .map_or("", |it| it.package.as_str());
            for written in &module.items {
                if !matches!(written.item, Item::Use(_)) {
                    words.read(&written.file, package, written.item.to_token_stream());
                }
            }
            for (file, given) in &module.given {
                words.read(file, package, given.tokens.clone());
            }
        }
        words
    }

    fn read(&mut self, file: &Rc<File>, package: &str, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => self.read(file, package, group.stream()),
                TokenTree::Ident(word) => {
                    let name = word.to_string();
                    let is_called = matches!(tokens.peek(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                    if is_called && TIMEOUTS.contains(&name.as_str()) {
                        self.limited.insert(package.to_owned());
                    }
                    if name.starts_with(char::is_uppercase) && !name.contains(char::is_lowercase) {
                        let places = self.statics.entry(name).or_default();
                        places.insert(Place::of(file, word.span()));
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn has_timeout(&self, package: &str) -> bool {
        self.limited.contains(package)
    }

    /// How often a static is named, with its definition.
    pub(super) fn count(&self, name: &str) -> usize {
        self.statics.get(name).map_or(0, HashSet::len)
    }
}
