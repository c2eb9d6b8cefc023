//! The one table of keys: the macros' parser, the suggestions, the documentation's test and files use it.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use reattempt_rules::{Key, Kind};

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

/// What differs where others count retries.
const FIRST_COUNTS: &str = ", which counts the first attempt too";

/// What decides by a status.
const STATUS: &str = ", and the errors of `reattempt::http` know which statuses are worth a retry";

/// What differs from a rate limiter.
const NO_RATE: &str = ", which has no fixed rate: it follows what the service accepts";

/// Keys that most policies need.
const USUAL: [&str; 8] = [
    "max", "on", "base", "cap", "jitter", "deadline", "timeout", "budget",
];

/// As many names as a line has room for.
const MANY: usize = 12;

/// What other libraries call it, what it is called here, and what differs.
const FOREIGN: &[(&str, &str, &str)] = &[
    ("attempts", "max", ""),
    ("max_attempts", "max", ""),
    ("tries", "max", ""),
    ("stop_after_attempt", "max", ""),
    ("stop", "max", ""),
    ("times", "max", FIRST_COUNTS),
    ("retry_count", "max", FIRST_COUNTS),
    ("num_retries", "max", FIRST_COUNTS),
    ("retries", "max", FIRST_COUNTS),
    ("max_retries", "max", FIRST_COUNTS),
    ("max_times", "max", FIRST_COUNTS),
    ("delay", "base", ""),
    ("initial", "base", ""),
    ("interval", "base", ""),
    ("wait", "base", ""),
    ("sleep", "base", ""),
    ("min_wait", "base", ""),
    ("initial_delay", "base", ""),
    ("min_delay", "base", ""),
    ("initial_interval", "base", ""),
    ("max_delay", "cap", ""),
    ("max_wait", "cap", ""),
    ("max_backoff", "cap", ""),
    ("max_interval", "cap", ""),
    ("multiplier", "factor", ""),
    ("exponent", "factor", ""),
    ("retry_on", "on", ""),
    ("exceptions", "on", ""),
    ("retry_if", "on", ""),
    ("when", "on", ""),
    ("if", "on", ""),
    ("predicate", "on", ""),
    ("status", "on", STATUS),
    ("statuses", "on", STATUS),
    ("status_codes", "on", STATUS),
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
    ("stop_after_delay", "deadline", ""),
    ("max_elapsed", "deadline", ""),
    ("max_elapsed_time", "deadline", ""),
    ("total_timeout", "deadline", ""),
    ("retry_budget", "budget", ""),
    ("circuit_breaker", "breaker", ""),
    ("concurrency_limit", "bulkhead", ""),
    ("max_concurrent", "bulkhead", ""),
    ("rate_limiter", "throttle", NO_RATE),
    ("rate_limit", "throttle", NO_RATE),
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

/// What to say about a key that `keys` does not have, with this value if it has one.
pub fn unknown(word: &str, value: Option<&str>, keys: &[&str]) -> String {
    let lower = word.to_lowercase();
    if lower != word && keys.contains(&&*lower) {
        return format!("unknown key `{word}`; keys are written in lower case, `{lower}`");
    }
    let ours = |theirs: &str| foreign(theirs).filter(|(ours, _)| keys.contains(ours));
    let convert = |ours, remark| match value.and_then(|value| converted(ours, remark, value)) {
        Some(code) => format!("; write `{code}`"),
        None => String::new(),
    };
    if let Some((ours, remark)) = ours(&lower) {
        let code = convert(ours, remark);
        return format!("unknown key `{word}`; it is called `{ours}` here{remark}{code}");
    }
    if let Some(key) = nearest(word, keys) {
        return format!("unknown key `{word}`; did you mean `{key}`?");
    }
    if let Some((theirs, (ours, remark))) =
        nearest_foreign(&lower).and_then(|it| Some((it, ours(it)?)))
    {
        let code = convert(ours, remark);
        return format!("unknown key `{word}`; `{theirs}` is called `{ours}` here{remark}{code}");
    }
    if keys.len() <= MANY {
        return format!("unknown key `{word}`; the keys are {}", listed(keys));
    }
    let usual: Vec<_> = USUAL.into_iter().filter(|key| keys.contains(key)).collect();
    format!(
        "unknown key `{word}`; the usual keys are {}; the reference lists all",
        listed(&usual)
    )
}

/// How the value of a key of another library is written here, if that is known: a count of retries is one less than one
/// of attempts.
fn converted(ours: &str, remark: &str, value: &str) -> Option<String> {
    let value = match Key::from_name(ours)?.kind() {
        Kind::Attempts => {
            let count: u32 = value.parse().ok()?;
            let first = u32::from(remark == FIRST_COUNTS);
            count.checked_add(first)?.to_string()
        }
        Kind::Time if value.starts_with('"') => value.to_owned(),
        Kind::Factor if value.parse::<f64>().is_ok() => value.to_owned(),
        _ => return None,
    };
    Some(format!("{ours} = {value}"))
}

fn nearest_foreign(word: &str) -> Option<&'static str> {
    let names: Vec<_> = FOREIGN.iter().map(|(theirs, ..)| *theirs).collect();
    nearest(word, &names)
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
    fn values_of_others() {
        for (word, value, ours) in [
            ("max_retries", "3", Some("write `max = 4`")),
            ("retires", "3", Some("write `max = 4`")),
            ("attempts", "3", Some("write `max = 3`")),
            ("max_delay", "\"5s\"", Some("write `cap = \"5s\"`")),
            ("multiplier", "1.5", Some("write `factor = 1.5`")),
            // Seconds, or milliseconds.
            ("max_delay", "5", None),
            ("max_retries", "4294967295", None),
            ("retry_if", "is_transient", None),
            ("colour", "3", None),
        ] {
            let said = unknown(word, Some(value), KEYS);
            let code = said
                .split_once("; write ")
                .map(|(_, code)| format!("write {code}"));
            assert_eq!(code.as_deref(), ours, "{word} = {value}");
        }
    }

    #[test]
    fn near_misses() {
        assert_eq!(nearest("bace", KEYS), Some("base"));
        assert_eq!(nearest("deadlnie", KEYS), Some("deadline"));
        assert_eq!(nearest("colour", KEYS), None);
        assert_eq!(
            unknown("retries", None, &["max"]),
            "unknown key `retries`; it is called `max` here, which counts the first attempt too"
        );
        assert_eq!(
            unknown("MAX", None, KEYS),
            "unknown key `MAX`; keys are written in lower case, `max`"
        );
        assert_eq!(
            unknown("Max_Elapsed", None, KEYS),
            "unknown key `Max_Elapsed`; it is called `deadline` here"
        );
        assert_eq!(
            unknown("on_giveup", None, KEYS),
            "unknown key `on_giveup`; it is called `fallback` here, and `fallback = |error| { ...; Err(error) }` keeps the error"
        );
        assert_eq!(
            unknown("retires", None, KEYS),
            "unknown key `retires`; `retries` is called `max` here, which counts the first attempt too"
        );
        assert_eq!(
            unknown("colour", None, KEYS),
            "unknown key `colour`; the usual keys are `max`, `on`, `base`, `cap`, `jitter`, `deadline`, `timeout`, `budget`; the reference lists all"
        );
        // Not what `keys` does not have.
        assert_eq!(
            unknown("retries", None, &["ttl"]),
            "unknown key `retries`; the keys are `ttl`"
        );
    }
}
