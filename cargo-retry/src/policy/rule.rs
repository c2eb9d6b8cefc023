//! Which rule a message of the macros is about: they say it in words, without its id.

use retry_runtime::rules::Rule;
use retry_syntax::model::Model;

/// Words of messages that are about no rule of the runtime, in the order in which they are looked for.
const WORDS: &[(&str, &str)] = &[
    ("unknown key", "R15"),
    ("is no key", "R15"),
    ("`never` stands alone", "R15"),
    ("stands on functions only", "R15"),
    ("stands here twice", "R16"),
    ("a bare number is no duration", "R17"),
    ("an empty pattern", "R13"),
    ("beside `strategy`", "X11"),
    ("and so does `strategy`", "X11"),
    ("`except` names the same", "X9"),
    ("hedge", "X12"),
    ("`verify`", "X13"),
    ("`max", "R1"),
    ("attempts", "R1"),
    ("a duration", "R2"),
    ("`factor`", "R4"),
    ("jitter", "R5"),
    ("backoff", "R9"),
    ("budget", "R11"),
    ("`name`", "R14"),
    ("the name of", "R14"),
];

/// The id of the rule of the runtime that says this of the policy, if one does.
pub(super) fn of_policy(message: &str, model: &Model) -> Option<&'static str> {
    let violations = Rule::ALL.iter().filter_map(|rule| rule.check(&model.known));
    let mut own = violations.filter(|violation| violation.message() == message);
    Some(own.next()?.rule().id())
}

/// The id of any other; `syntax` where what is written is no list of keys.
pub(super) fn of_words(message: &str) -> &'static str {
    let known = WORDS.iter().find(|(words, _)| message.contains(words));
    known.map_or("syntax", |(_, rule)| rule)
}
