//! What is written into headers, and what is read from them.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};
use proptest::prelude::*;
use reattempt::deadline::{
    self, Deadline, GRPC_TIMEOUT, REQUEST_ATTEMPT, REQUEST_TIMEOUT, attempt_from_header,
    from_header,
};
use tokio::runtime::Builder;

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;

/// Runs `f` on a clock that stands still.
fn at_once<R>(f: impl FnOnce() -> R) -> R {
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build();
    runtime.unwrap().block_on(async { f() })
}

fn written(left: Duration) -> String {
    let headers = at_once(|| deadline::within_blocking(left, deadline::headers));
    headers[REQUEST_TIMEOUT].to_str().unwrap().to_owned()
}

fn with(name: &HeaderName, values: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(name, value.parse().unwrap());
    }
    headers
}

fn read(values: &[&str]) -> Option<Duration> {
    let headers = with(&REQUEST_TIMEOUT, values);
    at_once(|| from_header(&headers).map(Deadline::remaining))
}

/// The finest unit that takes eight digits, and never more than there is.
#[test]
fn writes() {
    for (nanos, expected) in [
        (0, "0n"),
        (1, "1n"),
        (99_999_999, "99999999n"),
        (100_000_000, "100000u"),
        (100_000_999, "100000u"),
        (30 * SECOND, "30000000u"),
        (100 * SECOND - 1, "99999999u"),
        (100 * SECOND, "100000m"),
        (100_000 * SECOND - 1, "99999999m"),
        (100_000 * SECOND, "100000S"),
        (1_000_000 * HOUR, "60000000M"),
        (2_000_000 * HOUR, "2000000H"),
    ] {
        assert_eq!(written(Duration::from_nanos(nanos)), expected);
    }
}

#[test]
fn reads() {
    for (text, expected) in [
        ("0n", Duration::ZERO),
        ("0H", Duration::ZERO),
        ("1n", Duration::from_nanos(1)),
        ("2u", Duration::from_micros(2)),
        ("250m", Duration::from_millis(250)),
        ("30S", Duration::from_secs(30)),
        ("00000030S", Duration::from_secs(30)),
        ("5M", Duration::from_secs(300)),
        ("2H", Duration::from_secs(7200)),
        // An empty element of a list says nothing (RFC 9110, 5.6.1).
        ("30S,", Duration::from_secs(30)),
        (", 30S ,,", Duration::from_secs(30)),
    ] {
        assert_eq!(read(&[text]), Some(expected), "{text}");
    }
    // As long as our clock goes, and no shorter because of it.
    assert!(read(&["99999999H"]) > Some(Duration::from_secs(100 * 365 * 86400)));
}

#[test]
fn refuses_what_is_malformed() {
    for text in [
        "",
        "S",
        "30",
        "30s",
        "30 S",
        "+30S",
        "-1S",
        "1.5S",
        "1e3S",
        "0x1S",
        "30SS",
        "000000030S",
        "100000000n",
        "99999999999999999999H",
        "soon",
        ",",
    ] {
        assert_eq!(read(&[text]), None, "{text:?}");
    }
}

#[test]
fn the_smallest_of_several() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(read(&["30S", "5S", "1M"]), seconds(5));
    assert_eq!(read(&["30S, 5S,1M"]), seconds(5));
    assert_eq!(read(&["30S", "1M , 4S"]), seconds(4));
    assert_eq!(read(&["30S", "soon"]), None);
    assert_eq!(read(&[]), None);
}

#[test]
fn the_header_of_grpc_counts_where_there_is_no_other() {
    let left = |headers: &HeaderMap| at_once(|| from_header(headers).map(Deadline::remaining));
    let mut headers = with(&GRPC_TIMEOUT, &["5S"]);
    assert_eq!(left(&headers), Some(Duration::from_secs(5)));
    headers.insert(REQUEST_TIMEOUT, "30S".parse().unwrap());
    assert_eq!(left(&headers), Some(Duration::from_secs(30)));
    headers.insert(REQUEST_TIMEOUT, "soon".parse().unwrap());
    assert_eq!(left(&headers), None);
}

/// A deadline only shrinks, in headers that somebody else wrote, too.
#[test]
fn a_shorter_time_stays() {
    for (before, after) in [
        ("1S", "1000000u"),
        ("1M", "30000000u"),
        ("soon", "30000000u"),
    ] {
        let mut headers = with(&REQUEST_TIMEOUT, &[before]);
        at_once(|| {
            deadline::within_blocking(Duration::from_secs(30), || {
                deadline::to_header(&mut headers);
            });
        });
        assert_eq!(headers[REQUEST_TIMEOUT], after, "{before}");
    }
    let mut headers = with(&REQUEST_TIMEOUT, &["1S"]);
    deadline::to_header(&mut headers);
    assert_eq!(headers[REQUEST_TIMEOUT], "1S", "without a deadline");
}

#[test]
fn attempts() {
    for (values, expected) in [
        (&["1"][..], Some(1)),
        (&["2"], Some(2)),
        (&["0007"], Some(7)),
        (&["3", "2"], Some(2)),
        (&["4294967296"], Some(u32::MAX)),
        (&["99999999999999999999"], Some(u32::MAX)),
        (&[], None),
        (&["0"], None),
        (&["2", ""], Some(2)),
        (&["2", "x"], None),
        (&["-2"], None),
        (&["+2"], None),
        (&["two"], None),
        (&["2.0"], None),
    ] {
        let headers = with(&REQUEST_ATTEMPT, values);
        assert_eq!(attempt_from_header(&headers), expected, "{values:?}");
    }
}

/// One of the unit that a text ends with.
fn unit(text: &str) -> Duration {
    match text.chars().last() {
        Some('n') => Duration::from_nanos(1),
        Some('u') => Duration::from_micros(1),
        Some('m') => Duration::from_millis(1),
        Some('S') => Duration::from_secs(1),
        Some('M') => Duration::from_secs(60),
        Some('H') => Duration::from_secs(3600),
        other => panic!("{other:?} is no unit"),
    }
}

/// Every order of magnitude as often as the others, up to 292 years.
fn durations() -> impl Strategy<Value = Duration> {
    (0..=63_u32, any::<u64>()).prop_map(|(bits, random)| {
        Duration::from_nanos(random.checked_shr(64 - bits).unwrap_or_default())
    })
}

proptest! {
    #[test]
    fn there_and_back(left in durations()) {
        let text = written(left);
        let back = read(&[&text]).unwrap();
        prop_assert!(text.len() <= 9);
        // None where it has become longer.
        let lost = left.checked_sub(back);
        prop_assert!(lost.is_some_and(|lost| lost < unit(&text)), "{left:?} became {text}");
        // What is passed on at once loses nothing more.
        prop_assert_eq!(written(back), text);
    }

    #[test]
    fn anything_is_read_without_a_panic(value in proptest::collection::vec(any::<u8>(), 0..16)) {
        if let Ok(value) = http::HeaderValue::from_bytes(&value) {
            let headers = HeaderMap::from_iter([
                (REQUEST_TIMEOUT, value.clone()),
                (REQUEST_ATTEMPT, value),
            ]);
            let _ = (from_header(&headers), attempt_from_header(&headers));
        }
    }
}
