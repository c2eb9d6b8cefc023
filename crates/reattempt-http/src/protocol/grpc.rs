//! The header with the time that is left of gRPC itself.

use std::time::Duration;

use http::{HeaderMap, HeaderName};

/// Read where `Retry-Context` says no time; nothing here writes it.
const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// Returns the time in `grpc-timeout`: one to eight digits, and a letter for the unit. Of several values the smallest
/// holds; where one is malformed, there is none.
///
/// # Source
///
/// `Timeout` in [gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
pub(super) fn timeout(headers: &HeaderMap) -> Option<Duration> {
    let lines = headers.get_all(GRPC_TIMEOUT).into_iter();
    lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|value| !value.is_empty())
        .map(duration)
        .min()? // `None` is below everything.
}

fn duration(value: &[u8]) -> Option<Duration> {
    let (letter, digits) = value.split_last()?;
    let unit = match letter {
        b'n' => 1,
        b'u' => 1_000,
        b'm' => 1_000_000,
        b'S' => 1_000_000_000,
        b'M' => 60_000_000_000,
        b'H' => 3_600_000_000_000,
        _ => return None,
    };
    let is_count = (1..=8).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let count: u32 = is_count.then(|| str::from_utf8(digits).ok()?.parse().ok())??;
    Some(Duration::from_nanos(unit).saturating_mul(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> Option<u64> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(GRPC_TIMEOUT, value.parse().expect("a value"));
        }
        timeout(&headers).map(|left| u64::try_from(left.as_millis()).expect("few"))
    }

    #[test]
    fn every_unit_and_nothing_else() {
        for (text, millis) in [
            ("1000000n", 1),
            ("1000u", 1),
            ("00000001m", 1),
            ("1S", 1000),
            ("1M", 60_000),
            ("1H", 3_600_000),
            ("0n", 0),
            ("99999999H", 359_999_996_400_000),
        ] {
            assert_eq!(read(&[text]), Some(millis), "{text}");
        }
        for text in [
            "",
            "1",
            "m",
            "1s",
            "+1m",
            "-1m",
            "1.5m",
            "1 m",
            "000000001m",
            "1m1",
            "m1",
        ] {
            assert_eq!(read(&[text]), None, "{text}");
        }
    }

    #[test]
    fn the_smallest_of_several() {
        assert_eq!(read(&["2m", "1m , 3m,"]), Some(1));
        assert_eq!(read(&["2m", "soon"]), None);
    }
}
