//! Checks the messages about every mistake. Each file has one mistake, and its messages are in
//! `<folder>/<mistake>.stderr`. `TRYBUILD=overwrite` writes them; read the diff before you keep it.
//! The other tests check the style of the messages.

#[path = "../ui/messages.rs"]
mod messages;

const OURS: [&str; 3] = ["parse", "rules", "function"];

#[test]
fn mistakes() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("parse/*.rs");
    cases.compile_fail("rules/*.rs");
    cases.compile_fail("function/*.rs");
    cases.compile_fail("types/*.rs");
}

#[test]
fn messages_point_at_a_token() {
    messages::point_at_a_token(&["parse", "rules", "function", "types"], &[]);
}

#[test]
fn our_messages_name_the_rule_and_the_fix() {
    messages::name_the_rule_and_the_fix(&OURS, &["; ", "did you mean", "the keys are"]);
}

#[test]
fn our_messages_end_with_their_rule() {
    messages::end_with_their_rule(&OURS);
    messages::name_rules_that_exist(&["parse", "rules", "function", "types"]);
}

#[test]
fn messages_quote_no_std() {
    messages::quote_no_std(&["parse", "rules", "function", "types"]);
}

#[test]
fn refusals_do_not_cascade() {
    messages::do_not_cascade(&OURS, |message| {
        message.text.starts_with("warning") || message.text.starts_with("error[")
    });
}
