//! The values of keys.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::{ParseError, Whole, Word, Written, keys};
use crate::RuleId;
use crate::rules::budget_share;
use crate::{Backoff, Jitter, Key, KeyValue, Kind, Level, Nested, Priority, Telemetry};

use crate::duration;

/// The number of attempts; `u32::MAX` is "unlimited".
#[derive(Debug, Clone, Copy)]
pub struct Attempts(pub u32);

/// `max` of a policy without a limit.
pub const UNLIMITED: &str = "unlimited";

impl Word for Attempts {
    const EXAMPLE: &'static str = "a number of attempts; write `max = 3` or `max = \"unlimited\"`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        if text == UNLIMITED {
            return Some(Ok(Self(u32::MAX)));
        }
        let is_time = || matches!(Duration::from_text(text), Some(Ok(_)));
        let fix = match text.parse::<u32>() {
            Ok(n) => format!("`max = {n}`"),
            Err(_) if is_time() => {
                format!(
                    "`cap = \"{text}\"` for the longest delay, or `deadline = \"{text}\"` for the whole call"
                )
            }
            Err(_) => "`max = 3` or `max = \"unlimited\"`".to_owned(),
        };
        Some(Err(ParseError::new(
            RuleId::R1,
            format!("`max` must be a number or `\"unlimited\"`, but is `\"{text}\"`; write {fix}"),
        )))
    }

    fn from_whole(number: Whole<'_>) -> Option<Result<Self, ParseError>> {
        // The largest number is how a policy keeps "unlimited".
        let read = number.digits.parse().ok().filter(|max| *max < u32::MAX);
        Some(read.map(Self).ok_or_else(|| {
            ParseError::new(
                RuleId::R1,
                format!(
                    "`max` must be at most {}, but is {}; write a smaller number, or `max = \"unlimited\"`",
                    u32::MAX.saturating_sub(1), number.written
                ),
            )
        }))
    }

    fn from_number(value: f64) -> Option<Result<Self, ParseError>> {
        // `-1` was written without a fraction, `3.0` with one.
        let written = if value < 0.0 {
            value.to_string()
        } else {
            format!("{value:?}")
        };
        let is_whole = (1.0..1e6).contains(&value) && value % 1.0 < f64::EPSILON;
        let fix = if is_whole { value } else { 3.0 };
        Some(Err(ParseError::new(
            RuleId::R1,
            format!(
                "`max` must be a whole number of attempts, at least 1, but is {written}; write `max = {fix}`"
            ),
        )))
    }
}

/// What people write for a time without a limit.
const NO_LIMIT: &[&str] = &[
    "none",
    "never",
    "off",
    "infinite",
    "infinity",
    "inf",
    "unlimited",
    "forever",
    "max",
];

impl Word for Duration {
    const EXAMPLE: &'static str = "a duration; write `\"250ms\"`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        if NO_LIMIT.contains(&&*text.trim().to_lowercase()) {
            let message = format!(
                "`\"{text}\"` is no duration; drop the key, or write the longest, `\"24h\"`"
            );
            return Some(Err(ParseError::new(RuleId::R2, message)));
        }
        let read = duration::parse(text);
        Some(read.map_err(|fault| {
            let (rule, fix) = match (fault, meant(text)) {
                (duration::ParseDurationError::NoUnit, _) => {
                    let number = text.trim();
                    let is_number = number.parse::<f64>().is_ok();
                    let fix = format!("`\"{number}ms\"` or `\"{number}s\"`");
                    (RuleId::R17, is_number.then_some(fix))
                }
                (_, Some(Err(fault))) => return ParseError::new(RuleId::R2, fault.to_string()),
                (_, meant) => {
                    let meant = meant.and_then(Result::ok);
                    (RuleId::R2, meant.map(|meant| format!("`\"{meant}\"`")))
                }
            };
            let message = fault.to_string();
            ParseError::new(
                rule,
                match (message.split_once("; "), fix) {
                    (Some((fault, _)), Some(fix)) => format!("{fault}; write {fix}"),
                    _ => message,
                },
            )
        }))
    }

    fn from_whole(number: Whole<'_>) -> Option<Result<Self, ParseError>> {
        // `5s` without quotes is a number with a suffix.
        Some(Err(match number.suffix {
            "" => bare(number.digits),
            _ => ParseError::new(
                RuleId::R17,
                format!("a duration is a text; write `\"{}\"`", number.written),
            ),
        }))
    }

    fn from_number(value: f64) -> Option<Result<Self, ParseError>> {
        if !value.is_finite() {
            return None;
        }
        Some(Err(if value < 0.0 {
            ParseError::new(
                RuleId::R2,
                "a duration must not be negative and needs a unit; write `\"250ms\"`",
            )
        } else {
            bare(value)
        }))
    }
}

/// Returns how a duration is written here that `text` has in other words, or why it is none: `"1 sec"` and `"PT1S"` are
/// `1s`, `"1d"` is `24h`, `"0:00:05"` is `5s`.
fn meant(text: &str) -> Option<Result<String, duration::ParseDurationError>> {
    let mut meant = String::new();
    let mut lower = with_point(&text.trim().to_lowercase());
    for unit in ["h", "m"] {
        lower = lower.replacen(':', unit, 1);
    }
    if text.contains(':') {
        lower.push('s');
    }
    let mut rest = lower.strip_prefix("pt").unwrap_or(&lower);
    while !rest.is_empty() {
        let unit = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, after) = rest.split_at_checked(unit)?;
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic());
        let (unit, after) = after.split_at_checked(end.unwrap_or(after.len()))?;
        rest = after.trim_start_matches([' ', ',']);
        let (number, unit) = match unit {
            "d" | "day" | "days" => (
                format!("{}", number.parse::<u32>().ok()?.checked_mul(24)?),
                "h",
            ),
            _ => (number.to_owned(), known_unit(unit)?),
        };
        let number = match number.trim_start_matches('0') {
            "" if text.contains(':') => continue,
            digits if text.contains(':') => digits.to_owned(),
            _ => number,
        };
        let gap = if meant.is_empty() { "" } else { " " };
        meant.extend([gap, &number, unit]);
    }
    match duration::parse(&meant) {
        Ok(_) => Some(Ok(meant)),
        Err(fault @ duration::ParseDurationError::TooLong) => Some(Err(fault)),
        Err(_) => None,
    }
}

/// `1.5s` of `1,5s`. Three digits behind a comma may be thousands.
fn with_point(text: &str) -> String {
    let Some((before, after)) = text.split_once(',') else {
        return text.to_owned();
    };
    let digits = after.find(|c: char| !c.is_ascii_digit());
    let digits = digits.unwrap_or(after.len());
    if before.ends_with(|c: char| c.is_ascii_digit()) && !matches!(digits, 0 | 3) {
        format!("{before}.{after}")
    } else {
        text.to_owned()
    }
}

/// The unit that is meant by a word in lower case.
fn known_unit(word: &str) -> Option<&'static str> {
    Some(match word {
        "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => "ns",
        "us" | "µs" | "μs" | "micro" | "micros" | "microsecond" | "microseconds" => "us",
        "ms" | "msec" | "msecs" | "milli" | "millis" | "millisecond" | "milliseconds" => "ms",
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "m" | "min" | "mins" | "minute" | "minutes" => "m",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        _ => return None,
    })
}

fn bare(number: impl fmt::Display) -> ParseError {
    ParseError::new(
        RuleId::R17,
        format!("a bare number is not a duration; write `\"{number}ms\"` or `\"{number}s\"`"),
    )
}

impl Word for f64 {
    const EXAMPLE: &'static str = "a number; write `2.0`";

    fn from_whole(number: Whole<'_>) -> Option<Result<Self, ParseError>> {
        number.digits.parse().ok().map(Ok)
    }

    fn from_number(value: f64) -> Option<Result<Self, ParseError>> {
        Some(Ok(value))
    }
}

impl Word for Jitter {
    const EXAMPLE: &'static str = "a share or a kind; write `jitter = 0.2` or `jitter = \"full\"`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        Some(named(text, Self::WORDS).ok_or_else(|| {
            let message = match of_percent(text) {
                Some(share) => {
                    format!(
                        "a share is a number, and `\"{text}\"` a text; write `jitter = {share}`"
                    )
                }
                None => unknown("jitter", text, Self::WORDS, ", or a share such as `0.2`"),
            };
            ParseError::new(RuleId::R5, message)
        }))
    }

    fn from_whole(number: Whole<'_>) -> Option<Result<Self, ParseError>> {
        f64::from_whole(number).map(|ratio| ratio.map(Self::Ratio))
    }

    fn from_number(value: f64) -> Option<Result<Self, ParseError>> {
        Some(Ok(Self::Ratio(value)))
    }
}

/// What others call our shapes.
const FOREIGN_SHAPES: &[(&str, &str)] = &[
    ("exponential", "exp"),
    ("constant", "fixed"),
    ("const", "fixed"),
    ("incremental", "linear"),
    ("immediate", "none"),
    ("fib", "fibonacci"),
];

/// Whether others call a shape so.
pub fn is_foreign_shape(word: &str) -> bool {
    FOREIGN_SHAPES.iter().any(|(theirs, _)| *theirs == word)
}

impl Word for Backoff {
    const EXAMPLE: &'static str =
        "a kind of backoff, whose numbers are keys beside it; write `backoff = \"exp\"`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        Some(named(text, Self::WORDS).ok_or_else(|| {
            let foreign = FOREIGN_SHAPES.iter().find(|(theirs, _)| *theirs == text);
            let message = match foreign {
                Some((_, ours)) => {
                    format!(
                        "unknown value `\"{text}\"` for `backoff`; it is called `\"{ours}\"` here"
                    )
                }
                None => unknown("backoff", text, Self::WORDS, OWN_BACKOFF),
            };
            ParseError::new(RuleId::R9, message)
        }))
    }
}

/// What only code can write for `backoff`.
pub const OWN_BACKOFF: &str = ", or an expression that implements `BackoffFn`";

impl Word for Nested {
    const EXAMPLE: &'static str = "a kind of nesting; write `nested = \"multiply\"`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        Some(
            named(text, Self::WORDS).ok_or_else(|| {
                ParseError::new(RuleId::Word, unknown("nested", text, Self::WORDS, ""))
            }),
        )
    }
}

impl Word for Priority {
    const EXAMPLE: &'static str = "a priority; write `priority = \"low\"`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        let is_above = keys::nearest(text, &["high", "critical"]).is_some();
        let or = "; did you mean `\"normal\"`, which is the highest?";
        let wrong = || {
            if is_above {
                format!("unknown value `\"{text}\"` for `priority`{or}")
            } else {
                unknown("priority", text, Self::WORDS, "")
            }
        };
        Some(named(text, Self::WORDS).ok_or_else(|| ParseError::new(RuleId::Word, wrong())))
    }
}

impl Word for Level {
    const EXAMPLE: &'static str = "a level; write `\"info\"`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        let wrong = || {
            let ours = OTHER_LEVELS.iter().find(|(theirs, _)| *theirs == text);
            let message = match ours {
                Some((_, ours)) => format!(
                    "unknown value `\"{text}\"` for `level`; it is called `\"{ours}\"` here"
                ),
                None => unknown("level", text, Self::WORDS, ""),
            };
            ParseError::new(RuleId::Word, message)
        };
        Some(named(text, Self::WORDS).ok_or_else(wrong))
    }
}

/// What others call a level, and its name here.
const OTHER_LEVELS: &[(&str, &str)] = &[
    ("verbose", "debug"),
    ("warning", "warn"),
    ("critical", "error"),
    ("fatal", "error"),
    ("none", "off"),
    ("never", "off"),
    ("silent", "off"),
];

/// The telemetry, in a word.
pub const TELEMETRY: &[(&str, Telemetry)] = &[
    ("default", Telemetry::new()),
    ("quiet", Telemetry::quiet()),
    ("timings", Telemetry::new().timings()),
    ("spans", Telemetry::new().spans()),
];

impl Word for Telemetry {
    const EXAMPLE: &'static str = "a kind of telemetry, or an expression of type `Telemetry`; write `telemetry = \"quiet\"` or `telemetry = Telemetry::new().give_up(Level::Error)`";
    const EXAMPLE_IN_FILE: &'static str = "a kind of telemetry, or a table; write `telemetry = \"quiet\"` or `telemetry = { give_up = \"error\" }`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        Some(named(text, TELEMETRY).ok_or_else(|| {
            ParseError::new(RuleId::Word, unknown("telemetry", text, TELEMETRY, ""))
        }))
    }
}

/// The settings of telemetry in a file. `retry` is that of every retry and gives way to `first_retry`.
pub const TELEMETRY_SETTINGS: &[&str] = &[
    "retry",
    "first_retry",
    "give_up",
    "recovery",
    "timings",
    "spans",
    "give_up_interval",
];

/// Reads one of them, in this order, into `telemetry`.
///
/// # Errors
///
/// What is wrong with the value.
pub fn telemetry_setting(
    key: &str,
    value: Written<'_>,
    telemetry: Telemetry,
) -> Result<Telemetry, ParseError> {
    Ok(match key {
        "retry" => telemetry.retry(level(key, value)?),
        "first_retry" => telemetry.first_retry(level(key, value)?),
        "give_up" => telemetry.give_up(level(key, value)?),
        "recovery" => telemetry.recovery(level(key, value)?),
        "timings" if value.in_file()? => telemetry.timings(),
        "spans" if value.in_file()? => telemetry.spans(),
        "give_up_interval" => telemetry.give_up_interval(value.in_file()?),
        _ => telemetry,
    })
}

/// The level of an event, in whose messages the setting has its own name.
fn level(key: &str, value: Written<'_>) -> Result<Level, ParseError> {
    value.in_file().map_err(|mut wrong: ParseError| {
        wrong.message = (wrong.message)
            .replace("`level`", &format!("`{key}`"))
            .replace("write `\"info\"`", &format!("write `{key} = \"info\"`"));
        wrong
    })
}

impl KeyValue {
    /// Reads a value that a file has for `key`, but for a table and what `budget` has.
    ///
    /// # Errors
    ///
    /// What is wrong with the value.
    pub fn in_file(key: Key, value: Written<'_>) -> Result<Self, ParseError> {
        Ok(match key.kind() {
            Kind::Attempts => Self::Attempts(value.in_file::<Attempts>()?.0),
            Kind::Backoff => Self::Backoff(value.in_file().map_err(|mut wrong: ParseError| {
                // What only code can have is no fix in a file.
                if let Some(rest) = wrong.message.strip_suffix(OWN_BACKOFF) {
                    wrong.message = rest.to_owned();
                }
                wrong
            })?),
            Kind::Time => Self::Time(value.in_file()?),
            Kind::Factor => Self::Factor(value.in_file()?),
            Kind::Jitter => Self::Jitter(value.in_file()?),
            Kind::Flag => Self::Flag(value.in_file()?),
            Kind::Codes => Self::Codes(value.in_file()?),
            Kind::Nested => Self::Nested(value.in_file()?),
            Kind::Priority => Self::Priority(value.in_file()?),
            Kind::Budget => Self::Budget,
            Kind::Telemetry => Self::Telemetry(value.in_file()?),
        })
    }
}

impl Word for bool {
    const EXAMPLE: &'static str = "a flag; write `true` or `false`, or the key alone";
    const EXAMPLE_IN_FILE: &'static str = "a flag; write `true` or `false`";

    fn from_flag(value: bool) -> Option<Result<Self, ParseError>> {
        Some(Ok(value))
    }
}

/// The name of an operation, or of a policy.
#[derive(Debug, Clone)]
pub struct Name(pub String);

impl Word for Name {
    const EXAMPLE: &'static str = "a text; write `name = \"payments.charge\"`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        Some(if text.is_empty() {
            Err(ParseError::new(
                RuleId::R14,
                "`name` must not be empty; write `name = \"payments.charge\"`, or leave it out",
            ))
        } else if text.contains(is_unseen) {
            let fixed = fixed(text).unwrap_or_else(|| "payments.charge".to_owned());
            Err(ParseError::new(
                RuleId::R14,
                format!(
                    "`name` must not have spaces, control characters or invisible characters; write `name = \"{fixed}\"`"
                ),
            ))
        } else {
            Ok(Self(text.to_owned()))
        })
    }
}

/// Whether a name with this character cannot be searched for.
pub fn is_unseen(c: char) -> bool {
    let is_format = matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}');
    c.is_whitespace() || c.is_control() || is_format
}

/// A name of an operation that is the nearest to `text`; there may be nothing to go by.
fn fixed(text: &str) -> Option<String> {
    let words = words(text);
    (!words.is_empty()).then(|| words.join("_"))
}

fn words(text: &str) -> Vec<&str> {
    let words = text.split(is_unseen);
    words.filter(|word| !word.is_empty()).collect()
}

/// Says what is wrong with the name of a policy: it is made of words with a space between them.
///
/// # Errors
///
/// What is wrong, and the name that is nearest to it, if there is one.
pub fn policy_name(name: &str) -> Result<(), (&'static str, Option<String>)> {
    let nearest = words(name).join(" ");
    if name.is_empty() {
        Err(("must not be empty", None))
    } else if nearest != name {
        Err((
            "has single spaces between its words, and no control or invisible characters",
            (!nearest.is_empty()).then_some(nearest),
        ))
    } else {
        Ok(())
    }
}

/// What a budget is written as that is the operation's own.
#[derive(Debug, Clone, Copy)]
pub enum Share {
    /// Each successful call brings this part of a retry.
    Of(f64),
    /// There is none, nor the one that an operation has by default.
    None,
}

impl Word for Share {
    const EXAMPLE: &'static str = "a share of the successful calls, a budget, or `\"none\"`; write `budget = 0.1` or `budget = &BUDGET` of a `static`";
    const EXAMPLE_IN_FILE: &'static str = "a share of the successful calls, a table, or `\"none\"`; write `budget = 0.1` or `budget = { per_request = 0.1 }`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        const WORDS: &[(&str, Share)] = &[("none", Share::None)];

        let word = text.trim();
        if word.starts_with(|first: char| !first.is_ascii_alphabetic()) {
            return None;
        }
        Some(match named(word, WORDS) {
            Some(none) => Ok(none),
            None => Err(ParseError::new(
                RuleId::R11,
                unknown(
                    "budget",
                    word,
                    WORDS,
                    "; a share is a number, as in `budget = 0.1`",
                ),
            )),
        })
    }

    fn from_whole(number: Whole<'_>) -> Option<Result<Self, ParseError>> {
        f64::from_whole(number).map(|share| share.and_then(Self::checked))
    }

    fn from_number(value: f64) -> Option<Result<Self, ParseError>> {
        Some(Self::checked(value))
    }
}

impl Share {
    fn checked(share: f64) -> Result<Self, ParseError> {
        match budget_share(share) {
            Some(refusal) => Err(ParseError::new(refusal.rule(), refusal.message())),
            None => Ok(Self::Of(share)),
        }
    }
}

/// The share that `20%` is.
fn of_percent(text: &str) -> Option<f64> {
    let percent: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    Some(percent / 100.0).filter(|share| (0.0..=1.0).contains(share))
}

/// The value of a word.
pub(crate) fn named<T: Copy>(word: &str, table: &[(&str, T)]) -> Option<T> {
    let (_, value) = table.iter().find(|(name, _)| *name == word)?;
    Some(*value)
}

pub(super) fn unknown<T>(key: &str, word: &str, table: &[(&str, T)], or: &str) -> String {
    let words: Vec<_> = table.iter().map(|(name, _)| *name).collect();
    if let Some(near) = keys::nearest(word, &words) {
        return format!("unknown value `\"{word}\"` for `{key}`; did you mean `\"{near}\"`?");
    }
    let quoted: Vec<_> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
    let quoted = quoted.join(", ");
    format!("unknown value `\"{word}\"` for `{key}`; the values are {quoted}{or}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_other_words_mean() {
        for (text, fixed) in [
            ("1 sec", Some("1s")),
            ("100 MS", Some("100ms")),
            ("1d", Some("24h")),
            ("1 minute, 30 seconds", Some("1m 30s")),
            ("PT1M30S", Some("1m 30s")),
            ("00:00:05", Some("5s")),
            ("1:30:00", Some("1h 30m")),
            ("1,5s", Some("1.5s")),
            ("1,25 h", Some("1.25h")),
            ("1,500 ms", None),
            ("1 s, 5 ms", Some("1s 5ms")),
            ("s,5", None),
            ("2:05", Some("2h 5s")),
            ("00:00", None),
            ("1 fortnight", None),
            ("soon", None),
            ("250", None),
            ("", None),
        ] {
            let meant = meant(text).and_then(Result::ok);
            assert_eq!(meant.as_deref(), fixed, "{text}");
        }
        assert!(meant("2d").is_some_and(|meant| meant.is_err()));
    }

    #[test]
    fn each_word_for_a_unit() {
        let words: [(&str, &[&str]); 6] = [
            ("1ns", &["ns", "nano", "nanos", "nanosecond", "nanoseconds"]),
            (
                "1us",
                &[
                    "us",
                    "µs",
                    "μs",
                    "micro",
                    "micros",
                    "microsecond",
                    "microseconds",
                ],
            ),
            (
                "1ms",
                &[
                    "ms",
                    "msec",
                    "msecs",
                    "milli",
                    "millis",
                    "millisecond",
                    "milliseconds",
                ],
            ),
            ("1s", &["s", "sec", "secs", "second", "seconds"]),
            ("1m", &["m", "min", "mins", "minute", "minutes"]),
            ("1h", &["h", "hr", "hrs", "hour", "hours"]),
        ];
        for (fixed, words) in words {
            for word in words {
                let meant = meant(&format!("1 {word}")).and_then(Result::ok);
                assert_eq!(meant.as_deref(), Some(fixed), "{word}");
            }
        }
    }

    fn said<T: Word>(number: f64) -> Option<String> {
        Some(T::from_number(number)?.err()?.to_string())
    }

    #[test]
    fn what_to_write_for_a_number_with_a_fraction() {
        for (number, fix) in [
            (-1.0, "-1; write `max = 3`"),
            (0.0, "0.0; write `max = 3`"),
            (1.0, "1.0; write `max = 1`"),
            (1.0 + f64::EPSILON, "1.0000000000000002; write `max = 3`"),
            (2.5, "2.5; write `max = 3`"),
            (7.0, "7.0; write `max = 7`"),
            (999_999.0, "999999.0; write `max = 999999`"),
            (1e6, "1000000.0; write `max = 3`"),
        ] {
            let said = said::<Attempts>(number).unwrap_or_default();
            assert!(said.ends_with(&format!("but is {fix}")), "{number}: {said}");
        }
        for (number, fix) in [(-0.5, "`\"250ms\"`"), (0.0, "`\"0"), (1.5, "`\"1.5")] {
            let said = said::<Duration>(number).unwrap_or_default();
            assert!(said.contains(fix), "{number}: {said}");
        }
        assert_eq!(said::<Duration>(f64::INFINITY), None);
    }

    #[test]
    fn a_share_in_percent() {
        for (text, share) in [
            ("20%", Some(0.2)),
            (" 100 % ", Some(1.0)),
            ("0%", Some(0.0)),
            ("101%", None),
            ("-1%", None),
            ("20", None),
            ("much%", None),
        ] {
            assert_eq!(of_percent(text), share, "{text}");
        }
    }

    #[test]
    fn shapes_of_others_are_no_shapes_here() {
        for (theirs, ours) in FOREIGN_SHAPES {
            assert!(
                is_foreign_shape(theirs) && !is_foreign_shape(ours),
                "{theirs}"
            );
        }
    }
}
