//! The error index, `docs/errors.md`: it has every entry, and what it shows as refused is refused by the rule above it.

use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;
use reattempt_policy::rules::RuleId;

use super::index::{rules_named, sections};

/// Rules that only the compiler can judge, as it knows types and evaluates constants: the case of `tests/ui` that shows
/// what it says.
const BY_THE_COMPILER: &[(RuleId, &str)] = &[
    (RuleId::R10, "rules/constant_breaker"),
    (RuleId::X10, "rules/constant_breaker"),
    (RuleId::X14, "rules/policy_breaks_a_rule_when_overridden"),
    (RuleId::S4, "function/no_classify_and_no_on"),
    (RuleId::S5, "types/timeout_without_from_gave_up"),
    (RuleId::S6, "types/moved_parameter"),
];

/// Its words are those of the rule that was broken.
const IN_OTHER_WORDS: &[RuleId] = &[RuleId::X14];

#[test]
fn every_entry_has_a_heading() {
    let sections = sections();
    let headings: Vec<_> = sections.iter().map(|section| &*section.id).collect();
    let entries: Vec<_> = RuleId::ALL.iter().map(|rule| rule.as_str()).collect();
    assert_eq!(headings, entries);
    for section in &sections {
        // What is wrong with a file has no code: `tests/configuration` reads those blocks.
        let is_of_files = ["X15", "file", "cut off"].contains(&&*section.id);
        let blocks = usize::from(!is_of_files);
        assert_eq!(section.refused.len(), blocks, "{}", section.id);
        assert_eq!(section.accepted.len(), blocks, "{}", section.id);
    }
}

// Refused code is marked `ignore`: as `compile_fail` each block would be compiled by itself, and say nothing of why it fails.
#[test]
fn what_is_refused_breaks_the_rule_above_it() {
    let sections = sections();
    for (section, rule) in sections.iter().zip(RuleId::ALL) {
        // `reattempt-supervisor-macros` has the attributes of durable tasks.
        if section.id.starts_with('D') {
            continue;
        }
        let by_compiler = BY_THE_COMPILER.iter().any(|(judged, _)| judged == rule);
        for code in &section.refused {
            let rules = rules_named(code, expanded);
            if by_compiler {
                assert_eq!(rules, [""; 0], "{rule}:\n{code}");
            } else {
                assert_eq!(rules, [rule.footer()], "{rule}:\n{code}");
            }
        }
        for code in &section.accepted {
            assert_eq!(rules_named(code, expanded), [""; 0], "{rule}:\n{code}");
        }
    }
}

#[test]
fn what_the_compiler_judges_is_shown_elsewhere() {
    for (rule, case) in BY_THE_COMPILER {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui");
        let said = fs::read_to_string(cases.join(format!("{case}.stderr"))).unwrap_or_default();
        assert!(!said.is_empty(), "{case}");
        let names = said.contains(rule.footer());
        assert_eq!(names, !IN_OTHER_WORDS.contains(rule), "{rule}: {said}");
    }
}

fn expanded(name: &str, arguments: &TokenStream, item: TokenStream) -> Option<TokenStream> {
    Some(match name {
        "retry" => crate::expand::attribute(arguments, item),
        "retry_block" => crate::expand::block(item),
        "derive" => crate::classify::derive(item),
        _ => return None,
    })
}
