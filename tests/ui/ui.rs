//! Every mistake, and what is said about it: one mistake a file, in the words
//! of `<folder>/<mistake>.stderr`. `TRYBUILD=overwrite` writes them anew;
//! read the difference before it is kept. The other tests read those words.

mod messages;

use reattempt_policy::rules::Rule;

const OURS: [&str; 4] = ["parse", "rules", "function", "built"];
const ALL: [&str; 5] = ["parse", "rules", "function", "built", "types"];

#[test]
fn mistakes() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("parse/*.rs");
    cases.compile_fail("rules/*.rs");
    cases.compile_fail("function/*.rs");
    cases.compile_fail("types/*.rs");
}

/// Programs that run, and mistakes that only the generation of code finds. They stand apart, because `trybuild` checks all
/// mistakes by one run of cargo only if no program runs among them.
#[test]
fn what_is_generated() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("built/*.rs");
}

#[test]
fn messages_point_at_a_token() {
    // An empty `retry_block!()` has no token, and its value is its own. Of an attribute on an expression the compiler says more.
    let whole = [
        "on_an_expression.rs",
        "on_a_statement.rs",
        "block_without_a_body.rs",
        "answer_not_used.rs",
        "block_without_its_question_mark.rs",
    ];
    messages::point_at_a_token(&ALL, &whole);
}

#[test]
fn our_messages_name_the_rule_and_the_fix() {
    let fixes = [
        "; ",
        "did you mean",
        "it is called",
        "the keys are",
        "the kinds are",
        "the verdicts are",
    ];
    messages::name_the_rule_and_the_fix(&OURS, &fixes);
}

#[test]
fn our_messages_end_with_their_rule() {
    messages::end_with_their_rule(&OURS);
    messages::name_rules_that_exist(&ALL);
}

/// And the page that the messages name says of each rule what it is about.
#[test]
fn every_rule_has_a_literal_and_a_constant() {
    const CONSTANT: &str = "error[E0080]: evaluation panicked: ";

    let page = include_str!("../../docs/errors.md");
    let messages = messages::messages("rules");
    let mut faults = Vec::new();
    for rule in Rule::ALL {
        let line = rule.id().footer();
        let mut broken = messages
            .iter()
            .filter(|message| message.below.contains(line));
        let (constants, literals): (Vec<_>, Vec<_>) = broken
            .by_ref()
            .partition(|message| message.text.starts_with(CONSTANT));
        if literals.is_empty() || constants.is_empty() {
            let (literals, constants) = (literals.len(), constants.len());
            faults.push(format!(
                "{rule:?}: {literals} literals, {constants} constants"
            ));
        }
        if !page.lines().any(|line| line == format!("## {}", rule.id())) {
            faults.push(format!("{rule:?}: no heading"));
        }
    }
    messages::report(&faults, "these rules have no case of each form");
}

#[test]
fn messages_quote_no_std() {
    messages::quote_no_std(&ALL);
}

#[test]
fn refusals_do_not_cascade() {
    messages::do_not_cascade(&OURS, |message| {
        // The label of the user's own loop is no refusal of ours.
        message.text.starts_with("warning") && message.text != "warning: unused label"
    });
}
