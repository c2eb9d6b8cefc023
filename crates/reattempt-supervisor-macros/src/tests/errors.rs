//! The rules of durable tasks in the error index, `docs/errors.md`: what it shows as refused is
//! refused by the rule above it.

use proc_macro2::TokenStream;
use quote::ToTokens;
use reattempt_policy::rules::RuleId;

use super::index::{rules_named, sections};
use crate::{expand, step, workflow};

#[test]
fn refused_examples_break_the_rule_above_them() {
    let sections = sections();
    for rule in RuleId::ALL.iter().filter(|it| it.as_str().starts_with('D')) {
        let section = sections.iter().find(|it| it.id == rule.as_str());
        let section = section.expect("a heading");
        for code in &section.refused {
            let rules = rules_named(code, expanded);
            assert_eq!(rules, [rule.footer()], "{rule}:\n{code}");
        }
        for code in &section.accepted {
            assert_eq!(rules_named(code, expanded), [""; 0], "{rule}:\n{code}");
        }
    }
}

fn expanded(name: &str, arguments: &TokenStream, item: &dyn ToTokens) -> Option<TokenStream> {
    let expand = match name {
        "step" => step::expand,
        "workflow" => workflow::expand,
        _ => return None,
    };
    Some(expand::attribute(
        arguments.clone(),
        item.to_token_stream(),
        expand,
    ))
}
