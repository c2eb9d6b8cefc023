//! The one table of option names: the parser, the suggestions and the
//! documentation's test use it.

/// Every key of the attribute and the block, in the order of the documentation.
pub(crate) const KEYS: &[&str] = &[
    "max",
    "backoff",
    "base",
    "first",
    "factor",
    "cap",
    "jitter",
    "fast_first",
    "deadline",
    "timeout",
    "patience",
    "idempotent",
    "nested",
    "budget",
    "breaker",
    "throttle",
    "hedge",
    "verify",
    "on",
    "except",
    "until",
    "retry_after",
    "fallback",
    "before_retry",
    "on_retry",
    "context",
    "clone",
    "name",
    "policy",
    "strategy",
    "timer",
    "crate",
];

/// Keys that stand on functions only.
pub(crate) const FUNCTION_ONLY: &[&str] = &["clone"];

/// What other libraries call it, what it is called here, and what differs.
const FOREIGN: &[(&str, &str, &str)] = &[
    ("attempts", "max", ""),
    ("max_attempts", "max", ""),
    ("tries", "max", ""),
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
    ("after", "retry_after", ""),
    (
        "adjust",
        "retry_after",
        ", and its `None` leaves the delay as it is",
    ),
    ("wait_exception", "retry_after", ""),
    ("max_retry_after", "patience", ""),
    ("notify", "on_retry", ""),
    ("attempt_timeout", "timeout", ""),
    ("per_try_timeout", "timeout", ""),
    ("max_elapsed_time", "deadline", ""),
    ("total_timeout", "deadline", ""),
    ("retry_budget", "budget", ""),
    ("circuit_breaker", "breaker", ""),
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

/// Whether `word` is one of `words`.
pub(crate) fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.contains(&word)
}

/// What to say about a key that does not exist.
pub(crate) fn unknown(word: &str) -> String {
    if word == "never" {
        return "`never` stands alone: it takes the function out of every policy; drop it or the other keys".to_owned();
    }
    if let Some((_, ours, remark)) = FOREIGN.iter().find(|(theirs, ..)| *theirs == word) {
        return format!("unknown key `{word}`; it is called `{ours}` here{remark}");
    }
    if nearest(&word.to_lowercase(), &["never"]).is_some() {
        return format!("unknown key `{word}`; did you mean `never`, alone?");
    }
    if word.contains("::") {
        return format!(
            "`{word}` is no key; a policy is given by its key, write `policy = {word}(...)`"
        );
    }
    match nearest(word, KEYS) {
        Some(key) => format!("unknown key `{word}`; did you mean `{key}`?"),
        None => format!("unknown key `{word}`; the keys are {}", listed(KEYS)),
    }
}

/// The word that `word` is most likely a misspelling of.
pub(crate) fn nearest<'a>(word: &str, words: &[&'a str]) -> Option<&'a str> {
    let near = |candidate: &&str| strsim::damerau_levenshtein(word, candidate);
    let best = *words.iter().min_by_key(|candidate| near(candidate))?;
    // A third of the word may be wrong; of a short one, a single letter.
    (near(&best) <= (best.len() / 3).max(1)).then_some(best)
}

/// "`a`, `b`, `c`".
pub(crate) fn listed(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::KEYS;

    /// The table of the documentation and its headings have these keys, in this order.
    #[test]
    fn the_documentation_has_every_key() {
        let text = include_str!("../docs/retry.md");
        let rows = text.lines().filter_map(|line| line.strip_prefix("| [`"));
        let rows: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
        assert_eq!(rows, KEYS);
        let headings = text.lines().filter_map(|line| line.strip_prefix("## `"));
        let headings: Vec<_> = headings
            .map(|heading| heading.trim_end_matches('`'))
            .filter(|heading| KEYS.contains(heading))
            .collect();
        assert_eq!(headings, KEYS);
    }
}
