//! Headers that others send: `Retry-After`, deadlines, attempt numbers; and those that we write.
#![no_main]

use std::time::Duration;

use arbitrary::Arbitrary;
use http::header::{AGE, DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use libfuzzer_sys::fuzz_target;
use reattempt::testing;
use reattempt_core::http::{Statuses, retry_after};
use reattempt_http::protocol::{Edge, RETRY_CONTEXT, Request};
use retry_runtime::{Verdict, deadline};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    lines: Vec<(Name, Value<'a>)>,
    status: u16,
    left: Left,
}

#[derive(Debug, Arbitrary)]
enum Name {
    RetryAfter,
    Date,
    Age,
    RetryContext,
    GrpcTimeout,
}

#[derive(Debug, Arbitrary)]
enum Value<'a> {
    Bytes(&'a [u8]),
    Number(i64),
    /// The time that is left, and the number of the attempt.
    Context(i64, i64),
    Unit(u32, u8),
    /// A date, in one of the three forms.
    Date(u32),
}

#[derive(Debug, Arbitrary)]
enum Left {
    Nanos(u32),
    Millis(u32),
    Seconds(u64),
}

fuzz_target!(|input: Input<'_>| {
    let mut headers = HeaderMap::new();
    for (name, value) in &input.lines {
        if let Some(value) = value.header() {
            headers.append(name.header(), value);
        }
    }
    asked(&headers);
    judged(&headers, input.status);
    received(&headers);
    sent(headers, input.left.duration());
});

impl Name {
    fn header(&self) -> HeaderName {
        match self {
            Self::RetryAfter => RETRY_AFTER,
            Self::Date => DATE,
            Self::Age => AGE,
            Self::RetryContext => RETRY_CONTEXT,
            Self::GrpcTimeout => HeaderName::from_static("grpc-timeout"),
        }
    }
}

impl Value<'_> {
    fn header(&self) -> Option<HeaderValue> {
        let text = match self {
            Self::Bytes(bytes) => return HeaderValue::from_bytes(bytes).ok(),
            Self::Number(number) => number.to_string(),
            Self::Context(left, attempt) => format!("left={left}, attempt={attempt}"),
            Self::Unit(number, unit) => {
                let unit = b"numSMH"[usize::from(*unit) % 6];
                format!("{number}{}", char::from(unit))
            }
            Self::Date(seconds) => {
                let time = std::time::UNIX_EPOCH + Duration::from_secs((*seconds).into());
                httpdate::fmt_http_date(time)
            }
        };
        HeaderValue::from_str(&text).ok()
    }
}

impl Left {
    fn duration(&self) -> Duration {
        match *self {
            Self::Nanos(nanos) => Duration::from_nanos(nanos.into()),
            Self::Millis(millis) => Duration::from_millis(millis.into()),
            Self::Seconds(seconds) => Duration::from_secs(seconds),
        }
    }
}

/// `Retry-After`: of several numbers the largest holds, and nothing is asked for by nothing.
fn asked(headers: &HeaderMap) {
    let asked = retry_after(headers);
    assert_ne!(asked, Some(Duration::ZERO));
    let lines: Vec<_> = headers.get_all(RETRY_AFTER).iter().collect();
    if lines.is_empty() {
        assert_eq!(asked, None);
    }
    let number = |line: &&HeaderValue| {
        let text = line.to_str().ok()?.trim();
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| {
            text.parse::<u128>()
                .map_or(u64::MAX, |n| u64::try_from(n).unwrap_or(u64::MAX))
        })
    };
    let numbers: Vec<_> = lines.iter().map(number).collect();
    if !numbers.is_empty() && numbers.iter().all(Option::is_some) {
        let most = numbers.into_iter().flatten().max().unwrap_or(0);
        let expected = (most > 0).then(|| Duration::from_secs(most));
        assert_eq!(asked, expected);
    }
}

/// Headers never make of a refusal something that may be retried.
fn judged(headers: &HeaderMap, status: u16) {
    let Ok(status) = StatusCode::from_u16(status) else {
        return;
    };
    let table = Statuses::default();
    let verdict = table.verdict(status, headers);
    let plain = table.of(status.as_u16());
    if plain.is_retryable() {
        assert_eq!(
            verdict.is_ambiguous(),
            plain.is_ambiguous() && verdict.is_retryable()
        );
        if let Verdict::Throttled(Some(delay)) | Verdict::TransientAfter(delay) = verdict {
            // A date without the time of the service counts from the clock of this machine, which has moved on.
            let asked = retry_after(headers).unwrap_or_default();
            assert!(asked <= delay && delay - asked < Duration::from_secs(60));
        }
    } else {
        // A limit of GitHub.
        let limit = retry_after(headers).filter(|_| status == StatusCode::FORBIDDEN);
        let expected = limit.map_or(plain, |delay| Verdict::Throttled(Some(delay)));
        assert_eq!(verdict.is_retryable(), expected.is_retryable());
    }
}

/// What a request says, and the answer to it.
fn received(headers: &HeaderMap) {
    let _time = testing::virtual_time();
    let mut request = Request::from_headers(headers);
    assert!(request.attempt() > 0);
    let left = request.left();
    let seen = request.run(deadline::remaining);
    assert!(seen <= left || left.is_some_and(|left| left.is_zero()));
    let mut answer = HeaderMap::new();
    request.to_answer(&mut answer);
    assert!(answer.is_empty(), "nothing has used up its retries");
}

/// What is written is read again: no later, and by less than a microsecond earlier. A deadline that stands there only
/// shrinks, and an answer that anybody sends harms nothing.
fn sent(mut headers: HeaderMap, left: Duration) {
    let _time = testing::virtual_time();
    let read = |headers: &HeaderMap| Request::from_headers(headers).left();
    let own = headers.contains_key(RETRY_CONTEXT);
    let before = if own { read(&headers) } else { None };
    let edge = Edge::named("fuzz");
    edge.from_answer(&headers);
    let here = deadline::within_blocking(left, || {
        edge.to_request(&mut headers);
        deadline::remaining()
    });
    // Too far ahead for any clock.
    let Some(here) = here else {
        return;
    };
    let least = before.map_or(here, |before| before.min(here));
    let after = read(&headers).expect("what we write can be read");
    let most = Duration::from_millis(999_999_999_999);
    assert!(after <= least, "{after:?} {least:?}");
    assert!(
        after >= most || least - after < Duration::from_micros(1),
        "{after:?} {least:?}"
    );
}
