//! The header `Retry-After`, its dialects, and what else a service says of the next attempt.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{AGE, DATE, RETRY_AFTER};
use httpdate::parse_http_date;

use super::context::AnswerField;
use super::quota::{decimal, refilled};
use crate::platform::system_time;
use crate::verdict::Verdict;

/// Headers with a delay in milliseconds, the first of which goes before `Retry-After`.
pub(crate) const MILLIS: [&str; 3] = ["retry-after-ms", "x-ms-retry-after-ms", "x-amz-retry-after"];

/// Returns the delay that the headers of a response ask for with `Retry-After`, or with a header that some services send for
/// the same in milliseconds and that goes first: `retry-after-ms`, `x-ms-retry-after-ms`, `x-amz-retry-after`.
///
/// `None` without one, for 0, for a date in the past and for anything malformed: then the
/// computed delay is the better guess. Of several `Retry-After` the longest holds.
///
/// # Units and ranges
///
/// Whole seconds, or a date, which counts from the `Date` of the same response and its `Age`, so that the
/// clocks of the two machines need not agree, and from the clock of this one where there is no
/// `Date`. Saturates.
///
/// # Source
///
/// [RFC 9110, section 10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3);
/// [the dialects](https://docs.rs/reattempt/latest/reattempt/guide/services/)
///
/// # Examples
///
/// ```
/// use http::HeaderMap;
/// use reattempt::http::retry_after;
/// use std::time::Duration;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", "120".parse().expect("a valid value"));
/// assert_eq!(retry_after(&headers), Some(Duration::from_secs(120)));
///
/// let past = "Wed, 21 Oct 2015 07:28:00 GMT";
/// headers.insert("retry-after", past.parse().expect("a valid value"));
/// assert_eq!(retry_after(&headers), None);
/// ```
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    match asked(headers) {
        Asked::Wait(delay) => Some(delay),
        Asked::Nothing | Asked::Never => None,
    }
}

/// `verdict` with what the headers ask for.
pub(crate) fn heeded(verdict: Verdict, headers: &HeaderMap) -> Verdict {
    match asked(headers) {
        Asked::Wait(delay) => verdict.after(Some(delay)),
        Asked::Never if verdict.is_retryable() => Verdict::RetryForbidden,
        Asked::Nothing | Asked::Never => verdict,
    }
}

/// `verdict` on a response of this status with what its headers say: whether to retry, after which delay, and when a quota
/// that is used up is full again.
pub(super) fn judged(verdict: Verdict, status: u16, headers: &HeaderMap) -> Verdict {
    let verdict = match word(headers, "x-should-retry") {
        Some("false") if verdict.is_retryable() => return Verdict::RetryForbidden,
        Some("true") if verdict == Verdict::Permanent && status >= 400 => Verdict::Transient,
        _ => verdict,
    };
    // GitHub turns requests away like this, and its headers say so.
    if status == 403 && verdict == Verdict::Permanent {
        let delay = retry_after(headers).or_else(|| refilled(headers, now(headers), false));
        return delay.map_or(verdict, |delay| Verdict::Throttled(Some(delay)));
    }
    match heeded(verdict, headers) {
        Verdict::Throttled(None) => Verdict::Throttled(refilled(headers, now(headers), true)),
        verdict => verdict,
    }
}

/// In the order of their weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    Nothing,
    Wait(Duration),
    /// A negative time, or `final`.
    Never,
}

fn asked(headers: &HeaderMap) -> Asked {
    let context = AnswerField::read(headers);
    if context.is_final {
        return Asked::Never;
    }
    if let Some(delay) = context.after.filter(|delay| !delay.is_zero()) {
        return Asked::Wait(delay);
    }
    let mut in_millis = MILLIS.iter().filter_map(|name| {
        let millis = decimal(word(headers, name)?)?;
        Duration::try_from_secs_f64(millis / 1e3).ok()
    });
    if let Some(delay) = in_millis.find(|delay| !delay.is_zero()) {
        return Asked::Wait(delay);
    }
    let lines = headers.get_all(RETRY_AFTER).into_iter();
    let asked = lines.map(|line| match line.to_str() {
        Ok(text) => read(text.trim(), headers),
        Err(_) => Asked::Nothing,
    });
    asked.max().unwrap_or(Asked::Nothing)
}

fn read(text: &str, headers: &HeaderMap) -> Asked {
    if let Some(seconds) = number(text) {
        return wait(Duration::from_secs(seconds));
    }
    match text.strip_prefix('-').and_then(number) {
        Some(0) => Asked::Nothing,
        Some(_) => Asked::Never,
        None => match (parse_http_date(text), now(headers)) {
            (Ok(date), Some(now)) => wait(date.duration_since(now).unwrap_or_default()),
            _ => Asked::Nothing,
        },
    }
}

fn wait(delay: Duration) -> Asked {
    if delay.is_zero() {
        Asked::Nothing
    } else {
        Asked::Wait(delay)
    }
}

/// The time of the service where it tells, else that of the platform.
fn now(headers: &HeaderMap) -> Option<SystemTime> {
    let text = |name| headers.get(name)?.to_str().ok();
    let date_sent = text(DATE).and_then(|date| parse_http_date(date).ok());
    // For so long it lay in a cache.
    let age = text(AGE).and_then(number).map(Duration::from_secs);
    date_sent
        .and_then(|date| date.checked_add(age.unwrap_or_default()))
        .or_else(system_time)
}

/// The value of a header, if it is one of letters.
fn word<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    Some(headers.get(name)?.to_str().ok()?.trim())
}

/// Digits and nothing else; what is too large for 64 bits saturates.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lines: &[&str], date: Option<&str>) -> Asked {
        let mut headers = HeaderMap::new();
        for line in lines {
            let line = http::HeaderValue::from_bytes(line.as_bytes());
            headers.append(RETRY_AFTER, line.expect("a valid value"));
        }
        if let Some(date) = date {
            headers.insert(DATE, date.parse().expect("a valid value"));
        }
        asked(&headers)
    }

    fn seconds(seconds: u64) -> Asked {
        Asked::Wait(Duration::from_secs(seconds))
    }

    #[test]
    fn seconds_are_digits_alone() {
        let table: &[(&str, Asked)] = &[
            ("1", seconds(1)),
            (" 120 ", seconds(120)),
            ("007", seconds(7)),
            ("0", Asked::Nothing),
            ("18446744073709551615", seconds(u64::MAX)),
            ("99999999999999999999999", seconds(u64::MAX)),
            ("-1", Asked::Never),
            ("-0", Asked::Nothing),
            ("-", Asked::Nothing),
            ("+1", Asked::Nothing),
            ("1.5", Asked::Nothing),
            ("1s", Asked::Nothing),
            ("1, 2", Asked::Nothing),
            ("", Asked::Nothing),
            ("soon", Asked::Nothing),
            ("h\u{e9}las", Asked::Nothing),
        ];
        for (text, expected) in table {
            assert_eq!(after(&[text], None), *expected, "{text:?}");
        }
    }

    // V86 among them: a date in the past leaves the computed delay.
    #[test]
    fn a_date_counts_from_that_of_the_service() {
        let now = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        let table: &[(&str, Asked)] = &[
            ("Sun, 06 Nov 1994 08:49:47 GMT", seconds(10)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", seconds(60)),
            ("Sun Nov  6 09:49:37 1994", seconds(3600)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Asked::Nothing),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Asked::Nothing),
            ("Sun, 06 Nov 1994 08:49:47 CET", Asked::Nothing),
        ];
        for (text, expected) in table {
            assert_eq!(after(&[text], now), *expected, "{text:?}");
        }
    }

    #[test]
    fn a_response_from_a_cache_is_as_old_as_it_says() {
        let mut headers = HeaderMap::new();
        let mut insert = |name, value: &'static str| {
            headers.insert(name, http::HeaderValue::from_static(value));
            asked(&headers)
        };
        insert(DATE, "Sun, 06 Nov 1994 08:49:37 GMT");
        insert(RETRY_AFTER, "Sun, 06 Nov 1994 08:54:37 GMT");
        assert_eq!(insert(AGE, "290"), seconds(10));
        assert_eq!(insert(AGE, "300"), Asked::Nothing);
        assert_eq!(insert(AGE, "a while"), seconds(300));
    }

    #[test]
    fn without_a_date_of_the_service_the_own_clock_holds() {
        for (date, now) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some("yesterday")),
        ] {
            assert_eq!(after(&[date], now), Asked::Nothing);
        }
        let soon = SystemTime::now() + Duration::from_secs(100);
        let soon = httpdate::fmt_http_date(soon);
        let Asked::Wait(delay) = after(&[&soon], None) else {
            panic!("no delay");
        };
        assert!((90..=100).contains(&delay.as_secs()), "{delay:?}");
    }

    #[test]
    fn of_several_the_longest_holds() {
        assert_eq!(after(&["1", "9", "soon"], None), seconds(9));
        assert_eq!(after(&["1", "-1"], None), Asked::Never);
        assert_eq!(after(&[], None), Asked::Nothing);
    }

    #[test]
    fn only_what_may_be_retried_is_delayed_or_forbidden() {
        let headers = |text: &'static str| {
            HeaderMap::from_iter([(RETRY_AFTER, http::HeaderValue::from_static(text))])
        };
        let second = Duration::from_secs(1);
        let table = [
            (Verdict::Transient, "1", Verdict::TransientAfter(second)),
            (Verdict::Refused, "1", Verdict::Throttled(Some(second))),
            (Verdict::Permanent, "1", Verdict::Permanent),
            (Verdict::Transient, "0", Verdict::Transient),
            (Verdict::Transient, "-1", Verdict::RetryForbidden),
            (Verdict::Permanent, "-1", Verdict::Permanent),
        ];
        for (verdict, text, expected) in table {
            assert_eq!(heeded(verdict, &headers(text)), expected, "{text}");
        }
    }
}
