//! The error index, `docs/errors.md`: its headings, and the rules that the code below them breaks. The tests of
//! `reattempt-supervisor-macros` include this file for the rules of durable tasks.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::visit::Visit;
use syn::{Attribute, Item};

const INDEX: &str = include_str!("../../../docs/errors.md");

/// What stands below a heading.
pub(crate) struct Section {
    pub(crate) id: String,
    pub(crate) refused: Vec<String>,
    pub(crate) accepted: Vec<String>,
}

pub(crate) fn sections() -> Vec<Section> {
    INDEX.split("\n## ").skip(1).map(Section::of).collect()
}

impl Section {
    fn of(text: &str) -> Self {
        let mut lines = text.lines();
        let id = lines.next().unwrap_or_default().to_owned();
        let title = lines.find(|line| !line.is_empty()).unwrap_or_default();
        let words = title.strip_prefix("**");
        let words = words.and_then(|words| words.strip_suffix("**"));
        assert!(words.is_some_and(|words| !words.is_empty()), "{id}");
        let blocks = |fence: &str| {
            let fence = format!("\n```{fence}\n");
            let found = text.split(&fence).skip(1);
            let code = found.filter_map(|rest| rest.split("\n```").next());
            code.map(shown).collect()
        };
        Self {
            id,
            refused: blocks("rust,ignore"),
            accepted: blocks("rust"),
        }
    }
}

/// Returns the code with the lines that rustdoc hides.
fn shown(code: &str) -> String {
    let lines = code
        .lines()
        .map(|line| line.strip_prefix("# ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Expands a use of the macro of this name, of which it takes the arguments and the item. `None` where it is the macro of
/// another crate.
type Expand = fn(&str, &TokenStream, TokenStream) -> Option<TokenStream>;

/// Returns the last line of each message in what the macros in `code` expand to.
pub(crate) fn rules_named(code: &str, expand: Expand) -> Vec<String> {
    let file = syn::parse_file(code).unwrap_or_else(|error| panic!("{error} in {code}"));
    let mut uses = Uses {
        expand,
        expanded: Vec::new(),
    };
    uses.visit_file(&file);
    assert!(
        !uses.expanded.is_empty() || code.contains("static SHOP"),
        "nothing is used in {code}"
    );
    let mut messages = Vec::new();
    for expanded in uses.expanded {
        collect(expanded, &mut messages);
    }
    let last = |message: String| message.lines().last().unwrap_or_default().to_owned();
    messages.into_iter().map(last).collect()
}

/// What each use of a macro expands to.
struct Uses {
    expand: Expand,
    expanded: Vec<TokenStream>,
}

impl Uses {
    /// Takes the first of our attributes off an item, and expands it.
    fn item(&mut self, attributes: &[Attribute], without: impl Fn(&Attribute) -> TokenStream) {
        for attribute in attributes {
            let arguments = match &attribute.meta {
                syn::Meta::List(list) => list.tokens.clone(),
                _ => TokenStream::new(),
            };
            let name = attribute.path().get_ident().map(ToString::to_string);
            let expanded =
                name.and_then(|name| (self.expand)(&name, &arguments, without(attribute)));
            if let Some(expanded) = expanded {
                self.expanded.push(expanded);
                return;
            }
        }
    }
}

impl Visit<'_> for Uses {
    fn visit_item(&mut self, item: &Item) {
        syn::visit::visit_item(self, item);
        let attributes = match item {
            Item::Fn(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Enum(item) => &item.attrs,
            _ => return,
        };
        self.item(attributes, |gone| {
            let mut item = item.clone();
            let attributes = match &mut item {
                Item::Fn(item) => &mut item.attrs,
                Item::Struct(item) => &mut item.attrs,
                Item::Enum(item) => &mut item.attrs,
                _ => return TokenStream::new(),
            };
            let place = attributes.iter().position(|kept| kept == gone);
            place.map(|place| attributes.remove(place));
            item.into_token_stream()
        });
    }

    fn visit_macro(&mut self, used: &syn::Macro) {
        let name = used.path.get_ident().map(ToString::to_string);
        let expanded =
            name.and_then(|name| (self.expand)(&name, &TokenStream::new(), used.tokens.clone()));
        self.expanded.extend(expanded);
    }
}

/// The texts of all `compile_error!`.
pub(crate) fn collect(tokens: TokenStream, messages: &mut Vec<String>) {
    let mut is_error = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => is_error = ident == "compile_error",
            TokenTree::Group(group) if is_error => {
                let text: Result<syn::LitStr, _> = syn::parse2(group.stream());
                messages.extend(text.map(|text| text.value()));
                is_error = false;
            }
            TokenTree::Group(group) => collect(group.stream(), messages),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
