//! The error index, `docs/errors.md`: its headings, and the rules that the code below them breaks. The tests of
//! `reattempt-supervisor-macros` include this file for the rules of durable tasks.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::VisitMut;
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
type Expand = fn(&str, &TokenStream, &dyn ToTokens) -> Option<TokenStream>;

/// Returns what each use of a macro in `code` expands to.
pub(crate) fn expansions(code: &str, expand: Expand) -> syn::Result<Vec<TokenStream>> {
    let mut file = syn::parse_file(code)?;
    let mut uses = Uses {
        expand,
        expanded: Vec::new(),
        templates: Vec::new(),
    };
    uses.visit_file_mut(&mut file);
    Ok(uses.expanded)
}

/// Returns the last line of each message in what the macros in `code` expand to.
pub(crate) fn rules_named(code: &str, expand: Expand) -> Vec<String> {
    let expanded = expansions(code, expand).unwrap_or_else(|error| panic!("{error} in {code}"));
    assert!(
        !expanded.is_empty() || code.contains("static SHOP"),
        "nothing is used in {code}"
    );
    let mut messages = Vec::new();
    for expanded in expanded {
        collect(expanded, &mut messages);
    }
    let last = |message: String| message.lines().last().unwrap_or_default().to_owned();
    messages.into_iter().map(last).collect()
}

/// What each use of a macro expands to.
struct Uses {
    expand: Expand,
    expanded: Vec<TokenStream>,
    /// What `macro_rules!` makes of each `[...]` it is given.
    templates: Vec<(syn::Ident, TokenStream)>,
}

impl Uses {
    /// Takes the first of our attributes off an item, and expands it.
    fn item<I: ToTokens>(&mut self, item: &mut I, of: fn(&mut I) -> Option<&mut Vec<Attribute>>) {
        for place in 0..of(item).map_or(0, |all| all.len()) {
            let Some(attribute) = of(item).map(|all| all.remove(place)) else {
                return;
            };
            let arguments = match &attribute.meta {
                syn::Meta::List(list) => list.tokens.clone(),
                _ => TokenStream::new(),
            };
            let name = attribute.path().segments.last();
            let name = name.map(|it| it.ident.to_string()).unwrap_or_default();
            let expanded = (self.expand)(&name, &arguments, item);
            if let Some(all) = of(item) {
                all.insert(place, attribute);
            }
            if let Some(expanded) = expanded {
                return self.expanded.push(expanded);
            }
        }
    }
}

/// Methods of a visitor for what has attributes.
macro_rules! with_attributes {
    ($($visit:ident $of:ident,)*) => { $(
        fn $visit(&mut self, it: &mut syn::$of) {
            syn::visit_mut::$visit(self, it);
            self.item(it, |it| Some(&mut it.attrs));
        }
    )* };
}

impl VisitMut for Uses {
    fn visit_item_mut(&mut self, item: &mut Item) {
        syn::visit_mut::visit_item_mut(self, item);
        self.item(item, |item| match item {
            Item::Fn(item) => Some(&mut item.attrs),
            Item::Struct(item) => Some(&mut item.attrs),
            Item::Enum(item) => Some(&mut item.attrs),
            Item::Impl(item) => Some(&mut item.attrs),
            Item::Trait(item) => Some(&mut item.attrs),
            Item::Mod(item) => Some(&mut item.attrs),
            Item::Union(item) => Some(&mut item.attrs),
            Item::Const(item) => Some(&mut item.attrs),
            Item::Static(item) => Some(&mut item.attrs),
            _ => None,
        });
    }

    fn visit_item_macro_mut(&mut self, item: &mut syn::ItemMacro) {
        let tokens = item.mac.tokens.clone();
        if let Some(name) = &item.ident {
            self.templates
                .extend(template(tokens).map(|it| (name.clone(), it)));
            return;
        }
        let used = |(name, _): &&(syn::Ident, _)| item.mac.path.is_ident(name);
        let Some((_, template)) = self.templates.iter().find(used).cloned() else {
            return self.visit_macro_mut(&mut item.mac);
        };
        for given in tokens {
            if let TokenTree::Group(given) = given
                && let Ok(mut file) = syn::parse2(filled(template.clone(), &given.stream()))
            {
                self.visit_file_mut(&mut file);
            }
        }
    }

    with_attributes! {
        visit_expr_closure_mut ExprClosure, visit_expr_method_call_mut ExprMethodCall,
        visit_foreign_item_fn_mut ForeignItemFn, visit_impl_item_fn_mut ImplItemFn, visit_local_mut Local,
        visit_trait_item_fn_mut TraitItemFn,
    }

    fn visit_macro_mut(&mut self, used: &mut syn::Macro) {
        let name = used.path.segments.last().map(|name| name.ident.to_string());
        let expanded =
            name.and_then(|name| (self.expand)(&name, &TokenStream::new(), &used.tokens));
        self.expanded.extend(expanded);
    }
}

/// `items` of `($([$($keys:tt)*])*) => { $(items)* };`.
fn template(rules: TokenStream) -> Option<TokenStream> {
    let groups = |tokens: TokenStream| {
        tokens.into_iter().filter_map(|token| match token {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        })
    };
    groups(groups(rules).nth(1)?).next()
}

/// The template with this in place of `$($keys)*`.
fn filled(template: TokenStream, given: &TokenStream) -> TokenStream {
    let mut tokens = template.into_iter();
    let mut all = TokenStream::new();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(sign) if sign.as_char() == '$' => {
                all.extend(given.clone());
                // The variable, and the sign of the repetition.
                tokens.nth(1);
            }
            TokenTree::Group(group) => {
                let inner = filled(group.stream(), given);
                all.extend([TokenTree::from(Group::new(group.delimiter(), inner))]);
            }
            token => all.extend([token]),
        }
    }
    all
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
