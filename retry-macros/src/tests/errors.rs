//! The error index, `docs/errors.md`: it has every entry, and what it shows as refused is refused by the rule above it.

use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;
use quote::ToTokens;
use reattempt_policy::rules::RuleId;

use super::index::{collect, expansions, rules_named, sections};

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

/// Cases of `tests/ui` whose messages are not those of an expansion, or which only the compiler parses.
const OF_OTHERS: &[&str] = &[
    "chain_of_nothing",
    "chain_of_texts",
    "chain_with_a_bar",
    "on_an_expression",
    "syntax_error_in_the_body",
];

/// What `tests/ui` shows, without the compiler and in seconds.
#[test]
fn of_each_mistake_is_said_what_is_written_down() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui");
    let folders = ["parse", "rules", "function", "types", "built", "pass"];
    let mut seen = 0;
    for entries in folders.map(|folder| fs::read_dir(cases.join(folder)).expect("a folder")) {
        for case in entries.map(|case| case.expect("an entry").path()) {
            let is_of_others = OF_OTHERS
                .iter()
                .any(|name| case.ends_with(format!("{name}.rs")));
            if case.extension().is_none_or(|it| it != "rs") || is_of_others {
                continue;
            }
            seen += 1;
            let mut said = Vec::new();
            let code = fs::read_to_string(&case).expect("a case");
            for expanded in expansions(&code, of_classify).expect("Rust") {
                collect(expanded, &mut said);
            }
            let stderr = fs::read_to_string(case.with_extension("stderr"));
            let mut expected = ours(&stderr.unwrap_or_default());
            // Tokens have no spaces.
            let text = |text: &String| text.replace(char::is_whitespace, "");
            expected.sort_by_key(text);
            said.sort_by_key(text);
            let same = expected.iter().map(text).eq(said.iter().map(text));
            assert!(
                same,
                "{case:?}\nsaid: {said:#?}\nwritten down: {expected:#?}"
            );
        }
    }
    assert!(seen > 300, "{seen} cases");
}

/// As below, but for other derives.
pub(super) fn of_classify(
    name: &str,
    arguments: &TokenStream,
    item: &dyn ToTokens,
) -> Option<TokenStream> {
    let is_ours = name != "derive" || arguments.to_string().contains("Classify");
    is_ours.then(|| expanded(name, arguments, item))?
}

/// The messages that name a rule and no code of the compiler.
fn ours(stderr: &str) -> Vec<String> {
    let mut lines = stderr.lines();
    let mut messages = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(first) = line.strip_prefix("error: ") {
            let rest = lines.by_ref().take_while(|line| !line.contains("--> "));
            let all: Vec<_> = [first].into_iter().chain(rest.map(str::trim)).collect();
            if all.iter().any(|line| line.starts_with("rule ")) {
                messages.push(all.join("\n"));
            }
        }
    }
    messages
}

fn expanded(name: &str, arguments: &TokenStream, item: &dyn ToTokens) -> Option<TokenStream> {
    Some(match name {
        "retry" => crate::expand::attribute(arguments, item.to_token_stream()),
        "retry_block" => crate::expand::block(item.to_token_stream()),
        "derive" => crate::classify::derive(item.to_token_stream()),
        _ => return None,
    })
}
