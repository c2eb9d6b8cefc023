//! Texts of durations: any text, and texts made of parts whose sum is known.
#![no_main]

use std::time::Duration;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use reattempt_policy::written::Word;
use retry_runtime::duration::{Human, LONGEST, ParseDurationError, parse};

#[derive(Debug, Arbitrary)]
enum Input<'a> {
    Text(&'a str),
    Parts(Vec<Part>),
}

#[derive(Debug, Arbitrary)]
struct Part {
    whole: u32,
    fraction: Option<u16>,
    unit: Unit,
    gap: bool,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Unit {
    Ns,
    Us,
    Greek,
    Ms,
    S,
    M,
    H,
}

impl Unit {
    const fn word(self) -> (&'static str, u128) {
        match self {
            Self::Ns => ("ns", 1),
            Self::Us => ("us", 1_000),
            Self::Greek => ("µs", 1_000),
            Self::Ms => ("ms", 1_000_000),
            Self::S => ("s", 1_000_000_000),
            Self::M => ("m", 60_000_000_000),
            Self::H => ("h", 3_600_000_000_000),
        }
    }
}

fuzz_target!(|input: Input<'_>| match input {
    Input::Text(text) => {
        let _ = read(text);
    }
    Input::Parts(parts) => made_of(&parts),
});

fn made_of(parts: &[Part]) {
    if parts.is_empty() {
        return;
    }
    let (mut text, mut least, mut most) = (String::new(), 0_u128, 0_u128);
    for part in parts {
        let (word, scale) = part.unit.word();
        let gap = if part.gap { " " } else { "" };
        text += &part.whole.to_string();
        let mut nanos = u128::from(part.whole) * scale;
        most += nanos;
        if let Some(fraction) = part.fraction {
            text += &format!(".{fraction:05}");
            most += u128::from(fraction) * scale / 100_000;
            // A digit below the nanosecond is cut off by itself.
            for (place, digit) in format!("{fraction:05}").bytes().enumerate() {
                let place = scale / 10_u128.pow(u32::try_from(place).unwrap_or(0) + 1);
                nanos += place * u128::from(digit - b'0');
            }
        }
        least += nanos;
        text += &format!("{gap}{word}{gap}");
    }
    let duration = read(&text);
    // From the largest unit to the smallest, each once.
    if !parts.is_sorted_by(|a, b| a.unit.word().1 > b.unit.word().1) {
        assert!(duration.is_err(), "{text}");
        return;
    }
    if least > LONGEST.as_nanos() {
        assert_eq!(duration, Err(ParseDurationError::TooLong), "{text}");
        return;
    }
    let nanos = duration
        .unwrap_or_else(|fault| panic!("{text:?}: {fault}"))
        .as_nanos();
    assert_eq!(nanos, least, "{text}");
    assert!(nanos <= most, "{text}");
}

/// What holds for every text.
fn read(text: &str) -> Result<Duration, ParseDurationError> {
    let read = parse(text);
    // Attributes and files read with the other of the two, which may know what was meant.
    let word = Duration::from_text(text).expect("a text can be a duration");
    assert_eq!(word.as_ref().ok(), read.as_ref().ok());
    if let (Err(wrong), Err(fault)) = (&word, &read) {
        let reason = |message: &str| message.split("; ").next().map(str::to_owned);
        assert_eq!(reason(&wrong.message), reason(&fault.to_string()), "{text}");
        let fixes = wrong.message.split("`\"").skip(1);
        for fix in fixes.filter_map(|fix| fix.split_once("\"`")) {
            assert!(parse(fix.0).is_ok(), "{text}: {}", wrong.message);
        }
    }
    if let Ok(duration) = read {
        assert!(duration <= LONGEST);
        shown(duration);
    }
    read
}

/// What is shown is read again, and is the same but for what is below the last digit that is shown.
fn shown(duration: Duration) {
    let text = Human(duration).to_string();
    let again =
        parse(&text).unwrap_or_else(|fault| panic!("{duration:?} is shown as {text:?}: {fault}"));
    let digit = match duration.as_nanos() {
        0..1_000_000 => Duration::from_nanos(1),
        1_000_000..1_000_000_000 => Duration::from_micros(1),
        _ => Duration::from_millis(1),
    };
    assert!(
        again <= duration && duration - again < digit,
        "{duration:?} {text}"
    );
    assert_eq!(Human(again).to_string(), text);
}
