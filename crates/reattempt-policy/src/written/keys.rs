//! The one table of keys: the macros' parser, the suggestions, the documentation's test and files use it.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::ParseError;
use crate::{Key, Kind, RuleId};

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

/// What to say where there is no code about a key that only code can have.
pub fn in_code_alone(word: &str) -> Option<ParseError> {
    let ours = foreign(word).map(|(ours, _)| ours);
    let message = if CODE.contains(&word) {
        format!(
            "`{word}` can be set in the code alone; drop it here and write it in `#[retry(...)]`"
        )
    } else {
        let ours = ours.filter(|ours| CODE.contains(ours))?;
        format!(
            "unknown key `{word}`; it is called `{ours}` here and can be set in the code alone: drop it and write it in `#[retry(...)]`"
        )
    };
    Some(ParseError::new(RuleId::X15, message))
}

/// What differs where others count retries.
const FIRST_COUNTS: &str = ", which counts the first attempt too";

/// How a policy has no end.
const NO_END: &str = ", and `max = \"unlimited\"` never gives up";

/// What decides by a status.
const STATUS: &str = ", and the errors of `reattempt::http` know which statuses are worth a retry";

/// Where the verdict of an answer belongs.
const ANSWERS: &str = ", a function that says which values are final";

/// Where others hold the numbers of a backoff in one value.
const NUMBERS: &str = ", and its numbers are keys of their own: `base`, `factor`, `cap`";

/// A jitter that others switch on.
const SWITCH: &str = ", and `jitter = \"full\"` is the default";

/// How delays are not spread.
const NO_JITTER: &str = ", and `jitter = \"none\"` switches it off";

/// What keeps a delay as it is.
const FIXED: &str = ", and `backoff = \"fixed\"` keeps it the same";

/// A shape that others switch on, which is the default here.
const EXP: &str = ", and `backoff = \"exp\"` is the default";

/// A throttle with the rate of a rate limiter.
const RATE: &str = ", and `reattempt::Throttle::rate(..)` makes a `static` of a fixed rate";

/// A hook that others have to write lines of a log.
const LOG: &str = ", and `on_retry = |retry| eprintln!(\"{retry}\")` prints each retry";

/// What others ask after so many failures.
const FAILURES: &str =
    ", which looks at all calls of a service: `breaker = &BREAKER` takes a `static`";

/// A flag that others have for the opposite.
const NO_FLAG: &str = "; write `idempotent = false`";

/// Units that others have in the name of a key.
const UNITS: &[(&str, &str)] = &[
    ("_ms", "ms"),
    ("_millis", "ms"),
    ("_milliseconds", "ms"),
    ("_s", "s"),
    ("_sec", "s"),
    ("_secs", "s"),
    ("_seconds", "s"),
];

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
    ("min", "base", ""),
    ("min_wait", "base", ""),
    ("min_backoff", "base", ""),
    ("min_interval", "base", ""),
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
    ("exponential", "backoff", EXP),
    ("exp", "backoff", EXP),
    (
        "fixed",
        "backoff",
        ", and `backoff = \"fixed\"` waits for `base` each time",
    ),
    (
        "constant",
        "backoff",
        ", and `backoff = \"fixed\"` waits for `base` each time",
    ),
    (
        "linear",
        "backoff",
        ", and `backoff = \"linear\"` grows by `base`",
    ),
    (
        "fibonacci",
        "backoff",
        ", and `backoff = \"fibonacci\"` begins with `base`",
    ),
    (
        "no_backoff",
        "backoff",
        ", and `backoff = \"none\"` never waits",
    ),
    ("no_jitter", "jitter", NO_JITTER),
    ("without_jitter", "jitter", NO_JITTER),
    ("every", "base", FIXED),
    ("up_to", "max", ""),
    ("at_most", "max", ""),
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
    ("rate_limiter", "throttle", RATE),
    ("rate_limit", "throttle", RATE),
    ("hedging", "hedge", ""),
    (
        "hedge_max",
        "hedge",
        ", and `Hedge::after(...).max(2)` says how many",
    ),
    ("recover", "fallback", ""),
    ("take", "max", FIRST_COUNTS),
    ("max_retry_attempts", "max", FIRST_COUNTS),
    ("max_tries", "max", ""),
    ("forever", "max", NO_END),
    ("infinite", "max", NO_END),
    ("without_max_times", "max", NO_END),
    ("min_timeout", "base", ""),
    ("min_backoff", "base", ""),
    ("initial_backoff", "base", ""),
    ("base_delay", "base", ""),
    ("start_delay", "base", ""),
    ("wait_fixed", "base", FIXED),
    ("wait_duration", "base", ""),
    ("retry_delay", "base", ""),
    ("max_timeout", "cap", ""),
    ("max_retry_delay", "cap", ""),
    ("exponential_max_wait_duration", "cap", ""),
    ("backoff_multiplier", "factor", ""),
    ("exponential_backoff_multiplier", "factor", ""),
    ("exponential_base", "factor", ""),
    ("exp_base", "factor", ""),
    ("backoff_type", "backoff", ""),
    ("backoff_strategy", "backoff", NUMBERS),
    ("wait_exponential", "backoff", NUMBERS),
    ("enable_exponential_backoff", "backoff", NUMBERS),
    ("randomize", "jitter", SWITCH),
    ("use_jitter", "jitter", SWITCH),
    ("enable_randomized_wait", "jitter", SWITCH),
    ("wait_random", "jitter", SWITCH),
    ("randomization_factor", "jitter", ""),
    ("randomized_wait_factor", "jitter", ""),
    ("jitter_factor", "jitter", ""),
    ("retry", "on", ""),
    ("retry_for", "on", ""),
    ("retry_exceptions", "on", ""),
    ("retry_if_exception", "on", ""),
    ("retry_if_exception_type", "on", ""),
    ("retry_on_exception", "on", ""),
    ("retryable", "on", ""),
    ("should_retry", "on", ""),
    ("should_handle", "on", ""),
    ("handle", "on", ""),
    ("include", "on", ""),
    ("retryable_status_codes", "on", STATUS),
    ("no_retry_for", "except", ""),
    ("not_on", "except", ""),
    ("not_retry_on", "except", ""),
    ("dont_retry_on", "except", ""),
    ("non_idempotent", "idempotent", NO_FLAG),
    ("not_idempotent", "idempotent", NO_FLAG),
    ("ignore_exceptions", "except", ""),
    ("exclude", "except", ""),
    ("giveup", "except", ""),
    ("retry_if_result", "until", ANSWERS),
    ("retry_on_result", "until", ANSWERS),
    ("retry_on_result_predicate", "until", ANSWERS),
    ("before_sleep", "on_retry", ""),
    ("on_failed_attempt", "on_retry", ""),
    ("on_backoff", "on_retry", ""),
    ("fallback_method", "fallback", ""),
    ("retry_error_callback", "fallback", ""),
    ("max_duration", "deadline", ""),
    ("max_retry_time", "deadline", ""),
    ("max_time", "deadline", ""),
    ("total_delay", "deadline", ""),
    ("count", "max", FIRST_COUNTS),
    ("unlimited", "max", NO_END),
    ("endless", "max", NO_END),
    ("maximum_attempts", "max", ""),
    ("stop_max_attempt_number", "max", ""),
    ("retry_limit", "max", FIRST_COUNTS),
    ("base_interval", "base", ""),
    ("initial_retry_delay", "base", ""),
    ("fixed_delay", "base", FIXED),
    ("maximum_interval", "cap", ""),
    ("backoff_max", "cap", ""),
    ("backoff_limit", "cap", ""),
    ("retry_backoff_max", "cap", ""),
    ("backoff_factor", "factor", ""),
    ("backoff_coefficient", "factor", ""),
    ("exponential_backoff", "backoff", NUMBERS),
    ("fixed_backoff", "backoff", NUMBERS),
    ("constant_backoff", "backoff", NUMBERS),
    ("linear_backoff", "backoff", NUMBERS),
    ("retry_backoff", "backoff", NUMBERS),
    ("delay_type", "backoff", NUMBERS),
    ("interval_function", "backoff", NUMBERS),
    ("delay_generator", "backoff", NUMBERS),
    ("calculate_delay", "backoff", NUMBERS),
    ("max_jitter", "jitter", SWITCH),
    ("retry_jitter", "jitter", SWITCH),
    ("value", "on", ""),
    ("filter", "on", ""),
    ("autoretry_for", "on", ""),
    ("retry_condition", "on", ""),
    ("retry_on_exception_predicate", "on", ""),
    ("status_forcelist", "on", STATUS),
    ("not_recoverable", "except", ""),
    ("non_retryable_error_types", "except", ""),
    ("log", "on_retry", LOG),
    ("logger", "on_retry", LOG),
    ("log_level", "on_retry", LOG),
    ("inspect", "on_retry", LOG),
    ("inspect_err", "on_retry", LOG),
    ("before_sleep_log", "on_retry", LOG),
    ("start_to_close_timeout", "timeout", ""),
    ("schedule_to_close_timeout", "deadline", ""),
    ("stop_max_delay", "deadline", ""),
    ("failure_policy", "breaker", FAILURES),
    ("failure_threshold", "breaker", FAILURES),
    ("failure_rate_threshold", "breaker", FAILURES),
];

/// What others call `word`: our name of it, and what differs.
pub fn foreign(word: &str) -> Option<(&'static str, &'static str)> {
    let word = plain(word);
    let (_, ours, remark) = FOREIGN.iter().find(|(theirs, ..)| plain(theirs) == word)?;
    Some((ours, remark))
}

/// A key without what languages and builders do to it: `maxDelay`, `max-delay` and `with_max_delay` are one.
fn plain(word: &str) -> String {
    let lower = word.to_lowercase();
    let name = lower.strip_prefix("with_").unwrap_or(&lower);
    name.replace(['_', '-'], "")
}

/// What to say about a key that `keys` does not have, with this value if it has one.
pub fn unknown(word: &str, value: Option<&str>, keys: &[&str]) -> String {
    let lower = word.to_lowercase();
    let same = keys.iter().find(|key| plain(key) == plain(word));
    if let Some(key) = same.filter(|_| lower != word) {
        return format!("unknown key `{word}`; keys are written in lower case, `{key}`");
    }
    let ours = |theirs: &str| foreign(theirs).filter(|(ours, _)| keys.contains(ours));
    let convert = |ours, remark| match value.and_then(|value| converted(ours, remark, value)) {
        Some(code) => format!("; write `{code}`"),
        None => value.map_or_else(String::new, |value| with_a_unit(ours, value)),
    };
    if let Some((ours, remark)) = ours(word).or(same.map(|key| (*key, ""))) {
        let code = convert(ours, remark);
        return format!("unknown key `{word}`; it is called `{ours}` here{remark}{code}");
    }
    if let Some((key, unit)) = with_unit(word).filter(|(key, _)| keys.contains(key)) {
        let value = value
            .filter(|value| value.parse::<f64>().is_ok())
            .unwrap_or("5");
        return format!(
            "unknown key `{word}`; the unit stands in the value, write `{key} = \"{value}{unit}\"`"
        );
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
    // What is listed in parentheses is so here.
    if matches!(ours, "on" | "except") && value.starts_with('(') {
        return Some(format!("{ours}{}", value.replace(", ", " | ")));
    }
    // `with_max_times(4)`, `stop = stop_after_attempt(4)`
    if let Some((word, inside)) = value.strip_suffix(')').and_then(|it| it.split_once('(')) {
        let meant = if word.is_empty() {
            Some((ours, remark))
        } else {
            foreign(word)
        };
        let (meant, remark) = meant.filter(|(meant, _)| *meant == ours)?;
        return converted(meant, remark, inside);
    }
    // A function or a `static` is named as it is there.
    if CODE.contains(&ours) && remark.is_empty() && is_path(value) {
        let value = value.replace(' ', "");
        let name = value.rsplit("::").next().unwrap_or_default();
        let is_pattern = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
        return Some(match ours {
            "on" | "except" if is_pattern => format!("{ours}({value})"),
            _ => format!("{ours} = {value}"),
        });
    }
    let value = match Key::from_name(ours)?.kind() {
        Kind::Attempts => {
            let count: u32 = value.parse().ok()?;
            let first = u32::from(remark == FIRST_COUNTS);
            count.checked_add(first)?.to_string()
        }
        Kind::Time if value.starts_with('"') => value.to_owned(),
        Kind::Factor | Kind::Jitter if value.parse::<f64>().is_ok() => value.to_owned(),
        _ => return None,
    };
    Some(format!("{ours} = {value}"))
}

/// `is_busy`, `Fault::is_busy` and `&SHOP`.
fn is_path(value: &str) -> bool {
    let name = value.trim_start_matches(['&', ' ']);
    name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && name
            .chars()
            .all(|it| it.is_alphanumeric() || "_: ".contains(it))
        && !matches!(name, "true" | "false")
}

/// What to say of a number without its unit, which nobody knows.
fn with_a_unit(ours: &str, value: &str) -> String {
    let is_time = Key::from_name(ours).is_some_and(|key| key.kind() == Kind::Time);
    if is_time && value.parse::<f64>().is_ok_and(|number| number > 0.0) {
        format!(" and has a unit, `\"{value}ms\"` or `\"{value}s\"`")
    } else {
        String::new()
    }
}

/// `base` and `ms` of `base_ms`, of `delay_ms` and of `delayMs`.
fn with_unit(word: &str) -> Option<(&'static str, &'static str)> {
    let plain_word = plain(word);
    // `delays` are several.
    let mut units = UNITS
        .iter()
        .filter(|(ending, _)| *ending != "_s" || word.ends_with("_s"));
    units.find_map(|(ending, unit)| {
        let key = plain_word.strip_suffix(&*plain(ending))?;
        let ours = Key::ALL
            .iter()
            .map(|key| key.as_str())
            .find(|ours| plain(ours) == key);
        let ours = ours.or_else(|| Some(foreign(key)?.0))?;
        (Key::from_name(ours)?.kind() == Kind::Time).then_some((ours, *unit))
    })
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
            (
                "retry_for",
                "(Fault::Busy)",
                Some("write `on(Fault::Busy)`"),
            ),
            ("takes", "4", Some("write `max = 5`")),
            ("randomization_factor", "0.5", Some("write `jitter = 0.5`")),
            ("maxAttempts", "3", Some("write `max = 3`")),
            ("with_max_delay", "\"5s\"", Some("write `cap = \"5s\"`")),
            (
                "retry_if",
                "is_transient",
                Some("write `on = is_transient`"),
            ),
            ("circuit_breaker", "& SHOP", Some("write `breaker = &SHOP`")),
            (
                "exceptions",
                "Fault :: Busy",
                Some("write `on(Fault::Busy)`"),
            ),
            ("retry_if", "true", None),
            ("retry_if", "false", None),
            ("retry_if", "_busy", Some("write `on = _busy`")),
            ("retry_if", "|e| e.is_busy()", None),
            ("retry_if", "5", None),
            ("multiplier", "fast", None),
            ("max_retries", "fast", None),
            ("failure_policy", "POLICY", None),
            ("max_delay", "LIMIT", None),
            ("with_max_times", "(4)", Some("write `max = 5`")),
            ("stop", "stop_after_attempt(4)", Some("write `max = 4`")),
            ("stop", "stop_after_delay(4)", None),
            ("max_retries", "limit(4)", None),
            ("base_ms", "500", Some("write `base = \"500ms\"`")),
            ("maxDelayMs", "500", Some("write `cap = \"500ms\"`")),
            ("timeout_secs", "1.5", Some("write `timeout = \"1.5s\"`")),
            ("delay_s", "2", Some("write `base = \"2s\"`")),
            ("deadlines", "2", None),
            ("colour", "3", None),
        ] {
            let said = unknown(word, Some(value), KEYS);
            let code = said
                .split_once("write ")
                .map(|(_, code)| format!("write {code}"));
            assert_eq!(code.as_deref(), ours, "{word} = {value}");
        }
    }

    #[test]
    fn a_number_without_its_unit_may_be_either() {
        for (word, value, has_unit) in [
            ("max_delay", "5", true),
            ("max_delay", "0.5", true),
            ("max_delay", "0", false),
            ("max_delay", "-1", false),
            ("max_delay", "soon", false),
            ("multiplier", "fast", false),
            ("failure_policy", "5", false),
        ] {
            let said = unknown(word, Some(value), KEYS);
            let unit = format!(" and has a unit, `\"{value}ms\"` or `\"{value}s\"`");
            assert_eq!(said.ends_with(&unit), has_unit, "{said}");
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
        for (word, said) in [
            ("fastFirst", "keys are written in lower case, `fast_first`"),
            ("with_jitter", "it is called `jitter` here"),
            (
                "forever",
                "it is called `max` here, and `max = \"unlimited\"` never gives up",
            ),
        ] {
            assert_eq!(
                unknown(word, None, KEYS),
                format!("unknown key `{word}`; {said}")
            );
        }
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
