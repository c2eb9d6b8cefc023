//! The one table of keys: the macros' parser, the suggestions, the documentation's test and files use it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use reattempt_rules::Key;

/// Keys whose values are code, and the names of things in it: a file cannot have them.
pub const CODE: &[&str] = &[
    "breaker",
    "bulkhead",
    "throttle",
    "hedge",
    "verify",
    "on",
    "except",
    "until",
    "retry_after",
    "fallback",
    "map_err",
    "history",
    "cut_off",
    "before_retry",
    "on_retry",
    "context",
    "clone",
    "name",
    "detail",
    "doc",
    "policy",
    "strategy",
    "timer",
    "crate",
];

/// Every key of the attribute and the block, in the order of the documentation.
#[expect(
    clippy::disallowed_methods,
    reason = "in a constant: an error of the compiler"
)]
pub const KEYS: &[&str] = &{
    let mut all = [""; Key::ALL.len() + CODE.len()];
    let (mut rest, code) = all.split_at_mut(Key::ALL.len());
    let mut keys: &[Key] = &Key::ALL;
    while let ([word, words @ ..], [key, tail @ ..]) = (rest, keys) {
        *word = key.as_str();
        (rest, keys) = (words, tail);
    }
    code.copy_from_slice(CODE);
    all
};

/// What other libraries call it, what it is called here, and what differs.
const FOREIGN: &[(&str, &str, &str)] = &[
    ("attempts", "max", ""),
    ("max_attempts", "max", ""),
    ("tries", "max", ""),
    ("stop_after_attempt", "max", ""),
    ("times", "max", ", which counts the first attempt too"),
    ("retries", "max", ", which counts the first attempt too"),
    ("max_retries", "max", ", which counts the first attempt too"),
    ("max_times", "max", ", which counts the first attempt too"),
    ("delay", "base", ""),
    ("interval", "base", ""),
    ("wait", "base", ""),
    ("initial_delay", "base", ""),
    ("min_delay", "base", ""),
    ("initial_interval", "base", ""),
    ("max_delay", "cap", ""),
    ("max_interval", "cap", ""),
    ("multiplier", "factor", ""),
    ("exponent", "factor", ""),
    ("retry_on", "on", ""),
    ("retry_if", "on", ""),
    ("when", "on", ""),
    ("if", "on", ""),
    ("predicate", "on", ""),
    ("unless", "except", ""),
    ("abort_on", "except", ""),
    ("ignore", "except", ""),
    (
        "exponential",
        "backoff",
        ", and `backoff = \"exp\"` is the default",
    ),
    ("after", "retry_after", ""),
    (
        "adjust",
        "retry_after",
        ", and its `None` leaves the delay as it is",
    ),
    ("wait_exception", "retry_after", ""),
    ("patience", "max_retry_after", ""),
    ("notify", "on_retry", ""),
    ("on_error", "on_retry", ""),
    (
        "on_giveup",
        "fallback",
        ", and `fallback = |error| { ...; Err(error) }` keeps the error",
    ),
    ("attempt_timeout", "timeout", ""),
    ("per_try_timeout", "timeout", ""),
    ("max_elapsed", "deadline", ""),
    ("max_elapsed_time", "deadline", ""),
    ("total_timeout", "deadline", ""),
    ("retry_budget", "budget", ""),
    ("circuit_breaker", "breaker", ""),
    ("concurrency_limit", "bulkhead", ""),
    ("max_concurrent", "bulkhead", ""),
    ("rate_limiter", "throttle", ""),
    ("rate_limit", "throttle", ""),
    ("hedging", "hedge", ""),
    (
        "hedge_max",
        "hedge",
        ", and `Hedge::after(...).max(2)` says how many",
    ),
    ("recover", "fallback", ""),
];

/// What others call `word`: our name of it, and what differs.
pub fn foreign(word: &str) -> Option<(&'static str, &'static str)> {
    let (_, ours, remark) = FOREIGN.iter().find(|(theirs, ..)| *theirs == word)?;
    Some((ours, remark))
}

/// What to say about a key that `keys` does not have.
pub fn unknown(word: &str, keys: &[&str]) -> String {
    let lower = word.to_lowercase();
    if lower != word && keys.contains(&&*lower) {
        return format!("unknown key `{word}`; keys are written in lower case, `{lower}`");
    }
    if let Some((ours, remark)) = foreign(&lower)
        && keys.contains(&ours)
    {
        return format!("unknown key `{word}`; it is called `{ours}` here{remark}");
    }
    match nearest(word, keys) {
        Some(key) => format!("unknown key `{word}`; did you mean `{key}`?"),
        None => format!("unknown key `{word}`; the keys are {}", listed(keys)),
    }
}

/// The word that `word` is most likely a misspelling of.
pub fn nearest<'a>(word: &str, words: &[&'a str]) -> Option<&'a str> {
    let near = |candidate: &&str| strsim::damerau_levenshtein(word, candidate);
    let best = *words.iter().min_by_key(|candidate| near(candidate))?;
    // A third of the word may be wrong; of a short one, a single letter.
    (near(&best) <= (best.len() / 3).max(1)).then_some(best)
}

/// "`a`, `b`, `c`".
pub fn listed(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_has_a_name_here() {
        for (theirs, ours, _) in FOREIGN {
            assert!(KEYS.contains(ours) && !KEYS.contains(theirs), "{theirs}");
        }
    }

    #[test]
    fn a_key_is_a_value_or_code() {
        for key in Key::ALL {
            assert!(!CODE.contains(&key.as_str()), "{key}");
        }
        assert_eq!(KEYS.first(), Some(&"max"));
        assert_eq!(KEYS.last(), CODE.last());
        assert!(!KEYS.contains(&""));
    }

    #[test]
    fn near_misses() {
        assert_eq!(nearest("bace", KEYS), Some("base"));
        assert_eq!(nearest("deadlnie", KEYS), Some("deadline"));
        assert_eq!(nearest("colour", KEYS), None);
        assert_eq!(
            unknown("retries", &["max"]),
            "unknown key `retries`; it is called `max` here, which counts the first attempt too"
        );
        assert_eq!(
            unknown("MAX", KEYS),
            "unknown key `MAX`; keys are written in lower case, `max`"
        );
        assert_eq!(
            unknown("Max_Elapsed", KEYS),
            "unknown key `Max_Elapsed`; it is called `deadline` here"
        );
        assert_eq!(
            unknown("on_giveup", KEYS),
            "unknown key `on_giveup`; it is called `fallback` here, and `fallback = |error| { ...; Err(error) }` keeps the error"
        );
        // Not what `keys` does not have.
        assert_eq!(
            unknown("retries", &["ttl"]),
            "unknown key `retries`; the keys are `ttl`"
        );
    }
}
