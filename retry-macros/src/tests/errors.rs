//! The error index, `docs/errors.md`: it has every entry, and what it shows as refused is refused by the rule above it.

use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use retry_runtime::rules::Entry;
use syn::visit::Visit;
use syn::{Attribute, Item};

/// Rules that only the compiler can judge, as it knows types and evaluates constants: the case of `tests/ui` that shows
/// what it says.
const BY_THE_COMPILER: &[(Entry, &str)] = &[
    (Entry::R10, "rules/constant_breaker"),
    (Entry::X10, "rules/constant_breaker"),
    (Entry::X14, "rules/policy_breaks_a_rule_when_overridden"),
    (Entry::S4, "function/no_classify_and_no_on"),
    (Entry::S5, "types/timeout_without_from_interrupted"),
    (Entry::S6, "types/moved_parameter"),
];

/// Its words are the compiler's own, or those of the rule that was broken.
const IN_OTHER_WORDS: &[Entry] = &[Entry::X14, Entry::S6];

fn index() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md");
    fs::read_to_string(path).unwrap_or_default()
}

/// What stands below a heading.
struct Section {
    id: String,
    title: String,
    refused: Vec<String>,
    mended: Vec<String>,
}

fn sections(index: &str) -> Vec<Section> {
    index.split("\n## ").skip(1).map(Section::of).collect()
}

impl Section {
    fn of(text: &str) -> Self {
        let mut lines = text.lines();
        let id = lines.next().unwrap_or_default().to_owned();
        let title = lines.find(|line| !line.is_empty()).unwrap_or_default();
        let blocks = |fence: &str| {
            let fence = format!("\n```{fence}\n");
            let found = text.split(&fence).skip(1);
            let code = found.filter_map(|rest| rest.split("\n```").next());
            code.map(shown).collect()
        };
        Self {
            id,
            title: title.to_owned(),
            refused: blocks("rust,ignore"),
            mended: blocks("rust"),
        }
    }
}

/// With the lines that rustdoc hides.
fn shown(code: &str) -> String {
    let lines = code
        .lines()
        .map(|line| line.strip_prefix("# ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_entry_has_a_heading() {
    let index = index();
    let sections = sections(&index);
    let headings: Vec<_> = sections.iter().map(|section| &*section.id).collect();
    let entries: Vec<_> = Entry::ALL.iter().map(|entry| entry.id()).collect();
    assert_eq!(headings, entries);
    for section in &sections {
        let title = section.title.strip_prefix("**");
        let title = title.and_then(|title| title.strip_suffix("**"));
        assert!(
            title.is_some_and(|title| !title.is_empty()),
            "{}",
            section.id
        );
        // What is wrong with a file has no code: `tests/configuration` reads those blocks.
        let is_of_files = ["X15", "file", "cut off"].contains(&&*section.id);
        let blocks = usize::from(!is_of_files);
        assert_eq!(section.refused.len(), blocks, "{}", section.id);
        assert_eq!(section.mended.len(), blocks, "{}", section.id);
    }
}

// Refused code is marked `ignore`: as `compile_fail` each block would be compiled by itself, and say nothing of why it fails.
#[test]
fn what_is_refused_breaks_the_rule_above_it() {
    let index = index();
    for (section, entry) in sections(&index).iter().zip(Entry::ALL) {
        let by_compiler = BY_THE_COMPILER.iter().any(|(judged, _)| judged == entry);
        let is_built = cfg!(feature = "durable") || !section.id.starts_with('D');
        for code in section.refused.iter().filter(|_| is_built) {
            let rules = rules_named(code);
            if by_compiler {
                assert_eq!(rules, [""; 0], "{entry}:\n{code}");
            } else {
                assert_eq!(rules, [entry.line()], "{entry}:\n{code}");
            }
        }
        for code in section.mended.iter().filter(|_| is_built) {
            assert_eq!(rules_named(code), [""; 0], "{entry}:\n{code}");
        }
    }
}

#[test]
fn what_the_compiler_judges_is_shown_elsewhere() {
    for (entry, case) in BY_THE_COMPILER {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui");
        let said = fs::read_to_string(cases.join(format!("{case}.stderr"))).unwrap_or_default();
        assert!(!said.is_empty(), "{case}");
        let names = said.contains(entry.line());
        assert_eq!(names, !IN_OTHER_WORDS.contains(entry), "{entry}: {said}");
    }
}

/// The last line of each message that the macros in `code` answer with.
fn rules_named(code: &str) -> Vec<String> {
    let file = syn::parse_file(code).unwrap_or_else(|error| panic!("{error} in {code}"));
    let mut uses = Uses(Vec::new());
    uses.visit_file(&file);
    assert!(
        !uses.0.is_empty() || code.contains("static SHOP"),
        "nothing is used in {code}"
    );
    let mut messages = Vec::new();
    for expanded in uses.0 {
        collect(expanded, &mut messages);
    }
    let last = |message: String| message.lines().last().unwrap_or_default().to_owned();
    messages.into_iter().map(last).collect()
}

/// What each use of a macro expands to.
struct Uses(Vec<TokenStream>);

impl Uses {
    /// Takes the first of our attributes off an item, and expands it.
    fn item(&mut self, attributes: &[Attribute], without: impl Fn(&Attribute) -> TokenStream) {
        let name = |attribute: &Attribute| attribute.path().get_ident().map(ToString::to_string);
        for attribute in attributes {
            let arguments = match &attribute.meta {
                syn::Meta::List(list) => list.tokens.clone(),
                _ => TokenStream::new(),
            };
            let expanded = match name(attribute).as_deref() {
                Some("retry") => crate::expand::attribute(&arguments, without(attribute)),
                #[cfg(feature = "durable")]
                Some("step") => {
                    use crate::durable;
                    durable::attribute(arguments, without(attribute), durable::step)
                }
                #[cfg(feature = "durable")]
                Some("workflow") => {
                    use crate::durable;
                    durable::attribute(arguments, without(attribute), durable::workflow)
                }
                Some("derive") => crate::classify::derive(without(attribute)),
                _ => continue,
            };
            self.0.push(expanded);
            return;
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
        if used.path.is_ident("retry_block") {
            self.0.push(crate::expand::block(used.tokens.clone()));
        }
    }
}

/// The texts of all `compile_error!`.
fn collect(tokens: TokenStream, messages: &mut Vec<String>) {
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
