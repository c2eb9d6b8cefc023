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
    if word == "async" {
        return "unknown key `async`; the function says whether it is async, drop the key"
            .to_owned();
    }
    if matches!(word, "enabled" | "enable" | "disabled") {
        return format!(
            "unknown key `{word}`; a configuration file has the key `enabled` for each operation and for all, and code has `max = 1`"
        );
    }
    if word == "never" {
        return "`never` stands alone: it takes the function out of every policy; drop it or the other keys".to_owned();
    }
    if word == "skip" {
        return "unknown key `skip`; a method without retries has `#[retry(never)]`".to_owned();
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
            Some(fields) if is_variant => {
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
