//! What is said of keys that do not exist. The table of those that do is the runtime's, which reads them in files.

use reattempt_policy::written as words;
pub use reattempt_policy::written::{KEYS, foreign, is_foreign_shape, listed, nearest};

/// Keys that stand on functions only.
pub const FUNCTION_ONLY: &[&str] = &["clone", "doc"];

/// What to do in a block in place of a key that stands on functions only.
pub fn in_place_of(word: &str) -> &'static str {
    match word {
        "clone" => "clone inside the block instead",
        _ => "drop it, a block has no documentation",
    }
}

/// How a function has no retries.
const NEVER: &str = "a function without retries has `#[retry(never)]`, or no attribute";

/// How a configuration switches retries off.
const SWITCH: &str = "a configuration file has the key `enabled` for each operation and for all, and code has `max = 1`";

/// What says both that any error is retried and that no attempt is the last.
const ALWAYS: &str = "`on(_)` retries after any error, and `max = \"unlimited\"` never gives up; write what is meant";

/// A ready policy.
const PRESET: &str = "a ready policy is the value of a key; write `policy = reattempt::Policy::interactive()`, or `background()`";

/// A list of delays.
const DELAYS: &str = "the delays follow `base`, `factor` and `cap`, or a function of the number of the retry; write `backoff = |retry| ...`";

/// Hooks around each attempt.
const AROUND: &str = "what is done at each attempt stands in the body; `before_retry = |retry| ...` is called in front of a retry";

/// Words of other libraries that are no key by another name, and what to do.
const NO_KEY: &[(&str, &str)] = &[
    (
        "async",
        "the function says whether it is async, drop the key",
    ),
    ("enabled", SWITCH),
    ("enable", SWITCH),
    ("disabled", SWITCH),
    ("skip", NEVER),
    ("off", NEVER),
    ("none", NEVER),
    ("disable", NEVER),
    ("no_retry", NEVER),
    ("no_retries", NEVER),
    ("without_retry", NEVER),
    ("without_retries", NEVER),
    ("always", ALWAYS),
    ("delays", DELAYS),
    ("intervals", DELAYS),
    ("schedule", DELAYS),
    ("sleep_durations", DELAYS),
    ("wait_chain", DELAYS),
    ("before", AROUND),
    ("before_attempt", AROUND),
    ("after_attempt", AROUND),
    ("on_attempt", AROUND),
    ("preset", PRESET),
    ("interactive", PRESET),
    (
        "background",
        "a ready policy is the value of a key; write `policy = reattempt::Policy::background()`",
    ),
    (
        "default",
        "keys that are not written have their defaults, drop this one",
    ),
    (
        "defaults",
        "keys that are not written have their defaults, drop this one",
    ),
    (
        "reraise",
        "the last error is returned as it is, drop the key",
    ),
    (
        "raise_on_giveup",
        "the last error is returned as it is, drop the key",
    ),
    (
        "last_error_only",
        "the last error is returned as it is, drop the key",
    ),
    (
        "on_success",
        "what follows a success stands at the end of the body, drop the key",
    ),
    (
        "layer",
        "a layer is put around a service, and a function has its policy; write `policy = POLICY`",
    ),
];

/// Whether `word` is one of `words`.
pub fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.contains(&word)
}

/// The key that `word` is, or that others call so.
pub fn meant(word: &str) -> Option<&str> {
    let ours = foreign(word).map(|(ours, _)| ours);
    is_one_of(word, KEYS).then_some(word).or(ours)
}

/// What to say about a key that does not exist, with this value if it has one, beside the keys that stand there.
pub fn unknown(word: &str, value: Option<&str>, beside: &[String]) -> String {
    if let Some((ours, _)) = foreign(word)
        && beside.iter().any(|key| key == ours)
    {
        return format!(
            "unknown key `{word}`; it is called `{ours}` here, and `{ours}` stands here already; drop `{word}`"
        );
    }
    if let Some((_, advice)) = NO_KEY.iter().find(|(theirs, _)| *theirs == word) {
        return format!("unknown key `{word}`; {advice}");
    }
    if word == "never" {
        return "`never` stands alone: it takes the function out of every policy; drop it or the other keys".to_owned();
    }
    if foreign(word).is_none() && nearest(&word.to_lowercase(), &["never"]).is_some() {
        return format!("unknown key `{word}`; did you mean `never`, alone?");
    }
    if let Some((_, last)) = word.rsplit_once("::") {
        let is_variant = last.starts_with(char::is_uppercase);
        return match value {
            _ if is_variant && last.ends_with("Error") => format!(
                "`{word}` is not a key; the errors are those of the function, drop `{word}`"
            ),
            None if is_variant => {
                format!("`{word}` is not a key; errors belong to `on`, write `on({word})`")
            }
            Some(value) if is_variant => {
                // A value behind `=` is no field.
                let fields = Some(value)
                    .filter(|it| it.starts_with('('))
                    .unwrap_or_default();
                format!("`{word}` is not a key; errors belong to `on`, write `on({word}{fields})`")
            }
            _ => format!(
                "`{word}` is not a key; a policy is given by its key, write `policy = {word}(...)`"
            ),
        };
    }
    let is_known = foreign(word).is_some() || nearest(&word.to_lowercase(), KEYS).is_some();
    if value.is_none() && !is_known {
        return format!(
            "unknown key `{word}`; a policy is the value of a key, write `policy = {word}`"
        );
    }
    words::unknown(word, value, KEYS)
}
