//! The rules of durable tasks in the error index, `docs/errors.md`: what it shows as refused is refused by the rule above it.

use proc_macro2::TokenStream;
use retry_runtime::rules::Entry;

use super::index::{rules_named, sections};
use crate::{expand, step, workflow};

#[test]
fn what_is_refused_breaks_the_rule_above_it() {
    let sections = sections();
    for entry in Entry::ALL.iter().filter(|it| it.id().starts_with('D')) {
        let section = sections.iter().find(|it| it.id == entry.id());
        let section = section.expect("a heading");
        for code in &section.refused {
            let rules = rules_named(code, expanded);
            assert_eq!(rules, [entry.line()], "{entry}:\n{code}");
        }
        for code in &section.accepted {
            assert_eq!(rules_named(code, expanded), [""; 0], "{entry}:\n{code}");
        }
    }
}

fn expanded(name: &str, arguments: &TokenStream, item: TokenStream) -> Option<TokenStream> {
    let expand = match name {
        "step" => step::expand,
        "workflow" => workflow::expand,
        _ => return None,
    };
    Some(expand::attribute(arguments.clone(), item, expand))
}
