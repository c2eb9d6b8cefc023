//! When a quota that is used up is full again: the fields of the current draft, and what services sent before it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderMap;
use httpdate::parse_http_date;

/// A number from here on counts from 1970, in seconds or in milliseconds; a smaller one from now.
const SINCE_1970: f64 = 1e9;
const IN_MILLIS: f64 = 1e11;

/// Returns after how long the last of the quotas that are used up is full again; `None` if no header says so.
///
/// `now` is the time of the service, if anything tells it. `unless_said` is whether a quota is used up of which nothing says what is left.
pub(super) fn refilled(
    headers: &HeaderMap,
    now: Option<SystemTime>,
    unless_said: bool,
) -> Option<Duration> {
    let delays = headers.iter().filter_map(|(name, value)| {
        let text = value.to_str().ok()?;
        match name.as_str() {
            "ratelimit" => of_list(text),
            name => {
                let is_used_up = is_reset(name) && is_empty(headers, name).unwrap_or(unless_said);
                is_used_up.then(|| until(text.trim(), now)).flatten()
            }
        }
    });
    delays.max().filter(|delay| !delay.is_zero())
}

/// Whether it is a header such as `x-ratelimit-reset`, `x-rate-limit-reset` or `anthropic-ratelimit-tokens-reset`.
fn is_reset(name: &str) -> bool {
    name.contains("reset") && (name.contains("ratelimit") || name.contains("rate-limit"))
}

/// Whether the quota of this header is used up, as the header beside it says, if there is one.
fn is_empty(headers: &HeaderMap, reset: &str) -> Option<bool> {
    let remaining = reset
        .replace("resettime", "reset")
        .replace("reset-after", "reset")
        .replace("reset", "remaining");
    let left = headers.get(remaining)?.to_str().ok();
    let left = left.and_then(|left| decimal(left.trim()));
    Some(left.is_some_and(|left| left < 1.0))
}

/// `"burst";r=0;t=5, "daily";r=1000;t=3600`: the longest `t` of what has no `r` left.
fn of_list(text: &str) -> Option<Duration> {
    let items = text.split(',').filter_map(|item| {
        let parameter = |name: &str| {
            let mut all = item.split(';').skip(1);
            all.find_map(|it| decimal(it.trim().strip_prefix(name)?))
        };
        let is_used_up = parameter("r=").is_some_and(|left| left < 1.0);
        parameter("t=").filter(|_| is_used_up).map(seconds)
    });
    items.max()
}

/// Reads a number, a duration in the style of Go, or a date.
fn until(text: &str, now: Option<SystemTime>) -> Option<Duration> {
    let at = match decimal(text) {
        Some(number) if number >= IN_MILLIS => UNIX_EPOCH.checked_add(seconds(number / 1e3))?,
        Some(number) if number >= SINCE_1970 => UNIX_EPOCH.checked_add(seconds(number))?,
        Some(number) => return Some(seconds(number)),
        None => match (in_units(text), parse_http_date(text)) {
            (Some(delay), _) => return Some(delay),
            (None, Ok(date)) => date,
            (None, Err(_)) => rfc3339(text)?,
        },
    };
    Some(at.duration_since(now?).unwrap_or_default())
}

/// Saturates.
fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or(Duration::MAX)
}

/// Digits, and perhaps a point and digits.
pub(super) fn decimal(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (digits(whole) && digits(fraction)).then(|| text.parse().ok())?
}

/// `6m0s`, `1.5s`, `120ms`.
fn in_units(mut text: &str) -> Option<Duration> {
    let mut sum = Duration::ZERO;
    while !text.is_empty() {
        let (number, rest) = text.split_at_checked(text.find(char::is_alphabetic)?)?;
        let end = rest
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(rest.len());
        let (unit, rest) = rest.split_at_checked(end)?;
        let unit = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "\u{b5}s" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        sum = sum.saturating_add(seconds(decimal(number)? * unit));
        text = rest;
    }
    Some(sum)
}

/// `2026-11-28T12:00:00Z`, also with a fraction or an offset.
///
/// # Source
///
/// [RFC 3339, section 5.6](https://www.rfc-editor.org/rfc/rfc3339#section-5.6); the days since 1970 by "chrono-Compatible
/// Low-Level Date Algorithms", Howard Hinnant.
fn rfc3339(text: &str) -> Option<SystemTime> {
    let (date, time) = text.split_once(['T', 't'])?;
    let end = time.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = time.split_at_checked(end)?;
    let [year, month, day] = numbers(date, '-')?;
    let (time, _) = time.split_once('.').unwrap_or((time, ""));
    let [hour, minute, second] = numbers(time, ':')?;
    let is_time = (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_time || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let [hours, minutes, _] = numbers(&format!("{}:0", zone.get(1..)?), ':')?;
            let offset = hours
                .checked_mul(3600)?
                .checked_add(minutes.checked_mul(60)?)?;
            if zone.starts_with('-') {
                offset.checked_neg()?
            } else {
                offset
            }
        }
    };
    let days = days_since_1970(year, month, day)?;
    let of_day = hour
        .checked_mul(3600)?
        .checked_add(minute.checked_mul(60)?)?;
    let all = days
        .checked_mul(86_400)?
        .checked_add(of_day)?
        .checked_add(second)?;
    let all = u64::try_from(all.checked_sub(offset)?).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(all))
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| {
        let is_short = part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
        is_short.then(|| part.parse().ok())?
    });
    let all = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(all)
}

/// Years begin in March, so that the day of a leap year is the last.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let (year, month) = if month > 2 {
        (year, month.checked_sub(3)?)
    } else {
        (year.checked_sub(1)?, month.checked_add(9)?)
    };
    let leap = (year / 4)
        .checked_sub(year / 100)?
        .checked_add(year / 400)?;
    let of_year = month.checked_mul(153)?.checked_add(2)? / 5;
    let days = year
        .checked_mul(365)?
        .checked_add(leap)?
        .checked_add(of_year)?;
    days.checked_add(day)?.checked_sub(719_469)
}
