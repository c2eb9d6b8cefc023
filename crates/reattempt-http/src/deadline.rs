//! Deadlines and attempt numbers in the headers of a request. The time is relative, so that the
//! clocks of two machines need not agree.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use retry_runtime::deadline::{Deadline, attempt, remaining};

/// The header with the time that is left for a request.
///
/// One to eight digits and one letter for the unit, nothing between them and no
/// sign: `30000000u` is 30 s.
///
/// | letter | unit |
/// |---|---|
/// | `n` | nanoseconds |
/// | `u` | microseconds |
/// | `m` | milliseconds |
/// | `S` | seconds |
/// | `M` | minutes |
/// | `H` | hours |
///
/// The time is relative: it counts from when the server reads the request, so that two clocks need
/// not agree. The time on the way does not count.
///
/// # Units and ranges
///
/// [`to_header`] writes the finest unit whose number has at most eight digits, rounded down: a
/// deadline only shrinks, by less than one of that unit. `0n` is a deadline that is over. Above
/// `99999999H` it saturates.
///
/// [`from_header`] reads any unit, leading zeros included. Of several values, in lines of their own
/// or joined by commas, the smallest holds, and an empty value does not count. Where a value is
/// malformed, there is no deadline.
///
/// # Source
///
/// `Timeout` in [gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md),
/// under another name, because a plain HTTP server does not expect gRPC's headers.
pub const REQUEST_TIMEOUT: HeaderName = HeaderName::from_static("request-timeout");

/// gRPC's own header of the same format. [`from_header`] reads it where there is not a
/// [`REQUEST_TIMEOUT`]; nothing writes it.
pub const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// The header with the number of the attempt that a request belongs to.
///
/// # Units and ranges
///
/// Digits only, from 1. [`to_header`] writes it from the second attempt on, so that a request
/// without it is a first attempt. [`attempt_from_header`] saturates at [`u32::MAX`]. Of several
/// values, in lines of their own or joined by commas, the smallest holds. Where a value is
/// malformed or 0, there is no number.
pub const REQUEST_ATTEMPT: HeaderName = HeaderName::from_static("request-attempt");

/// Each unit in nanoseconds, and its letter; the finest first.
const UNITS: [(u64, u8); 6] = [
    (1, b'n'),
    (1_000, b'u'),
    (1_000_000, b'm'),
    (1_000_000_000, b'S'),
    (60_000_000_000, b'M'),
    (3_600_000_000_000, b'H'),
];

/// The largest number of eight digits.
const MOST: u32 = 99_999_999;

/// Writes the time left until the current deadline as [`REQUEST_TIMEOUT`], and inside a retry the
/// number of the attempt as [`REQUEST_ATTEMPT`].
///
/// A shorter time that `headers` already has stays. Without a deadline the first header stays as it
/// is; in a first attempt the second one does.
///
/// # Examples
///
/// ```
/// use http::HeaderMap;
/// use reattempt::deadline;
/// use std::time::Duration;
///
/// let mut headers = HeaderMap::new();
/// deadline::to_header(&mut headers);
/// assert!(headers.is_empty());
///
/// deadline::within_blocking(Duration::from_secs(30), || deadline::to_header(&mut headers));
/// let deadline = deadline::from_header(&headers).expect("just written");
/// assert!(deadline.remaining() < Duration::from_secs(30));
/// ```
pub fn to_header(headers: &mut HeaderMap) {
    if let Some(left) = remaining() {
        let before = smallest(headers, &REQUEST_TIMEOUT, duration);
        let least = before.map_or(left, |before| before.min(left));
        if let Ok(value) = HeaderValue::from_str(&text(least)) {
            insert(headers, REQUEST_TIMEOUT, value);
        }
    }
    let attempt = attempt();
    if attempt > 1 {
        insert(headers, REQUEST_ATTEMPT, attempt.into());
    }
}

/// Returns the headers that [`to_header`] writes, for builders that take headers as a whole.
///
/// # Examples
///
/// With reqwest: `client.get(url).headers(deadline::headers()).send()`, where the deadline holds:
/// in an async function or an `async` block inside [`within`](retry_runtime::deadline::within), not
/// in its arguments.
///
/// ```
/// use reattempt::deadline;
/// use std::time::Duration;
///
/// let headers = deadline::within_blocking(Duration::ZERO, deadline::headers);
/// assert_eq!(headers[deadline::REQUEST_TIMEOUT], "0n");
/// ```
#[must_use = "it only makes the headers"]
pub fn headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    to_header(&mut headers);
    headers
}

/// Returns the deadline in the headers of a request, counted from now: [`REQUEST_TIMEOUT`], or
/// [`GRPC_TIMEOUT`] where that is missing.
///
/// Returns `None` without a deadline and where it is malformed. The deadline changes nothing by
/// itself; to set it, give it to [`scope`](retry_runtime::deadline::scope).
///
/// # Examples
///
/// ```
/// use http::HeaderMap;
/// use reattempt::deadline;
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let mut request = HeaderMap::new();
/// request.insert("grpc-timeout", "250m".parse().expect("a valid value"));
///
/// deadline::scope(deadline::from_header(&request), async {
///     assert!(deadline::remaining() <= Some(Duration::from_millis(250)));
/// })
/// .await;
///
/// request.insert("request-timeout", "soon".parse().expect("a valid value"));
/// assert_eq!(deadline::from_header(&request), None);
/// # }
/// ```
pub fn from_header(headers: &HeaderMap) -> Option<Deadline> {
    let name = if headers.contains_key(REQUEST_TIMEOUT) {
        REQUEST_TIMEOUT
    } else {
        GRPC_TIMEOUT
    };
    smallest(headers, &name, duration).map(Deadline::after)
}

/// Returns the number of the attempt that a request belongs to, from its [`REQUEST_ATTEMPT`].
///
/// Returns `None` without a number, where the request is a first attempt or its client does not
/// count, and where the number is malformed.
///
/// # Examples
///
/// ```
/// use http::HeaderMap;
/// use reattempt::deadline;
///
/// let mut request = HeaderMap::new();
/// assert_eq!(deadline::attempt_from_header(&request), None);
/// request.insert("request-attempt", 2.into());
/// assert_eq!(deadline::attempt_from_header(&request), Some(2));
/// ```
pub fn attempt_from_header(headers: &HeaderMap) -> Option<u32> {
    smallest(headers, &REQUEST_ATTEMPT, ordinal)
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) {
    // It fails only where the map is full, with more headers than any server takes.
    let _ = headers.try_insert(name, value);
}

/// Returns the smallest of all values; `None` also where `read` refuses a value.
fn smallest<T: Ord>(
    headers: &HeaderMap,
    name: &HeaderName,
    read: impl Fn(&[u8]) -> Option<T>,
) -> Option<T> {
    let lines = headers.get_all(name).into_iter();
    lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|value| !value.is_empty())
        .map(read)
        .min()? // `None` is below everything.
}

fn text(left: Duration) -> String {
    for (unit, letter) in UNITS {
        let Some(count) = left.as_nanos().checked_div(unit.into()) else {
            continue;
        };
        if count <= u128::from(MOST) {
            return format!("{count}{}", char::from(letter));
        }
    }
    format!("{MOST}H")
}

fn duration(value: &[u8]) -> Option<Duration> {
    let (letter, digits) = value.split_last()?;
    let (unit, _) = UNITS.iter().find(|(_, known)| known == letter)?;
    if digits.len() > 8 {
        return None;
    }
    Some(Duration::from_nanos(*unit).saturating_mul(number(digits)?))
}

fn ordinal(value: &[u8]) -> Option<u32> {
    number(value).filter(|number| *number > 0)
}

/// Returns the number of at least one digit and nothing else; it saturates.
fn number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u32, |number, byte| {
        let digit = char::from(*byte).to_digit(10)?;
        Some(number.saturating_mul(10).saturating_add(digit))
    })
}
