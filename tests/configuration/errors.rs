//! What the error index, `docs/errors.md`, shows of files: refused by the rule above it, and fixed.

use reattempt::config::{Config, Diagnostic};
use reattempt::policy::rules::RuleId;

const INDEX: &str = include_str!("../../docs/errors.md");

/// The blocks in this language below the heading.
fn blocks(entry: RuleId, language: &str) -> Vec<&'static str> {
    let heading = format!("\n## {entry}\n");
    let (_, section) = INDEX.split_once(&*heading).expect("a heading");
    let section = section.split("\n## ").next().unwrap_or_default();
    let fence = format!("\n```{language}\n");
    let blocks: Vec<_> = section
        .match_indices(&*fence)
        .map(|(at, fence)| &section[at + fence.len()..])
        .filter_map(|rest| rest.split("\n```").next())
        .collect();
    blocks
}

#[test]
fn what_code_and_configuration_do_not_share() {
    let blocks = blocks(RuleId::X15, "toml");
    let [refused, fixed] = *blocks.as_slice() else {
        panic!("{blocks:?}");
    };
    let faults = Config::from_toml(refused).expect_err("refused");
    let entries: Vec<_> = faults.iter().map(Diagnostic::rule).collect();
    assert_eq!(entries, [RuleId::X15]);
    assert!(Config::from_toml(fixed).is_ok());
}

#[test]
fn a_file_in_the_middle_of_a_write() {
    let blocks = blocks(RuleId::CutOff, "text");
    let [file] = *blocks.as_slice() else {
        panic!("{blocks:?}");
    };
    let (text, _) = file.split_once(" ←").expect("where it ends");
    let fault = Config::is_cut_off(text, None).expect("a fault");
    assert_eq!(fault.rule(), RuleId::CutOff);
    assert!(Config::is_cut_off(&format!("{text}\n"), None).is_none());
}

#[test]
fn a_file_that_cannot_be_read() {
    let faults = Config::from_file("/of/this/name/there/is/none.toml").expect_err("no file");
    let entries: Vec<_> = faults.iter().map(Diagnostic::rule).collect();
    assert_eq!(entries, [RuleId::File]);
    let said = format!("[file] ({})", RuleId::File.url());
    assert!(faults.to_string().ends_with(&said), "{faults}");
}
