//! How arguments and results are stored: as JSON.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// A type that one process can store as JSON and another can read back.
///
/// Every type that is `Serialize`, `DeserializeOwned`, `Send`, `Sync` and `'static` implements it.
#[diagnostic::on_unimplemented(
    message = "arguments and results of durable tasks are stored as JSON, and `{Self}` cannot be; add `#[derive(serde::Serialize, serde::Deserialize)]` to it",
    label = "expected a type that is `Serialize + DeserializeOwned + Send + Sync + 'static`",
    note = "rule D10: https://reattempt.github.io/reattempt/errors.html#d10"
)]
pub trait Payload: Serialize + DeserializeOwned + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Payload for T {}

/// Writes and reads a `T` as JSON.
#[derive(Debug)]
pub struct Codec<T> {
    write: fn(&T) -> serde_json::Result<String>,
    read: fn(&str) -> serde_json::Result<T>,
}

impl<T> Clone for Codec<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Codec<T> {}

impl<T> Codec<T> {
    /// Returns the JSON of a value.
    ///
    /// # Errors
    ///
    /// Fails if the value cannot be written as JSON.
    pub fn write(self, value: &T) -> serde_json::Result<String> {
        (self.write)(value)
    }

    /// Returns the value of a JSON text.
    ///
    /// # Errors
    ///
    /// Fails if the text is not the JSON of a `T`.
    pub fn read(self, text: &str) -> serde_json::Result<T> {
        (self.read)(text)
    }
}

/// Returns the codec of a type. Expansions demand [`Payload`] only here, so that the compiler
/// reports a missing implementation once.
pub fn codec<T: Payload>() -> Codec<T> {
    Codec {
        write: |value| serde_json::to_string(value),
        read: |text| serde_json::from_str(text),
    }
}

/// How many bytes an argument list, a result or a signal may have, unless the client has another
/// limit.
pub(crate) const MAX_PAYLOAD: usize = 4 << 20;

/// Returns why a store should not keep a value of this size, if it should not. `fix` says what to do
/// then.
pub(crate) fn too_large(what: &str, size: usize, limit: usize, fix: &str) -> Option<String> {
    (size > limit).then(|| {
        format!(
            "{what} has {size} bytes, and the limit is {limit}: keep the data elsewhere and return or send a reference to it, or raise \
             `Client::max_payload`{fix}"
        )
    })
}

/// The most bytes of an error that a store keeps.
const LONGEST_ERROR: usize = 64 << 10;

/// Returns the text of an error as every store can keep it: PostgreSQL knows no NUL, and an error is
/// not a place for data.
pub(crate) fn storable(error: &str) -> String {
    let mut end = error.len().min(LONGEST_ERROR);
    while !error.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    let kept = error.get(..end).unwrap_or_default();
    let more = if end < error.len() { "\u{2026}" } else { "" };
    [&kept.replace('\0', "\u{fffd}"), more].concat()
}

/// Returns whether two texts are the same JSON. The order of keys and white space do not matter; numbers
/// are compared as they are written, because they may have more than 64 bits.
pub(crate) fn is_same_json(one: &str, other: &str) -> bool {
    one == other || canonical(one.trim()) == canonical(other.trim())
}

/// Returns a JSON text with sorted keys, and strings in one form; the text itself if it is nested too deeply to be
/// read.
pub(crate) fn canonical(json: &str) -> String {
    let mut canonical = String::with_capacity(json.len());
    match write_canonical(json, LEVELS, &mut canonical) {
        Ok(()) => canonical,
        Err(_) => json.to_owned(),
    }
}

/// How many values `serde_json` reads inside each other. It counts none inside a `RawValue`.
const LEVELS: u32 = 127;

/// Appends a JSON text with sorted keys, and strings in one form, unless more values than `levels` are inside each other.
/// Numbers stay as they are written.
fn write_canonical(json: &str, levels: u32, out: &mut String) -> serde_json::Result<()> {
    let mut separator = "";
    let is_nesting = json.starts_with(['{', '[']);
    let Some(levels) = levels.checked_sub(u32::from(is_nesting)) else {
        return Err(serde::de::Error::custom("it is nested too deeply"));
    };
    if json.starts_with('{') {
        out.push('{');
        for (key, value) in serde_json::from_str::<BTreeMap<String, &RawValue>>(json)? {
            out.push_str(separator);
            out.push_str(&serde_json::to_string(&key)?);
            out.push(':');
            write_canonical(value.get(), levels, out)?;
            separator = ",";
        }
        out.push('}');
    } else if json.starts_with('[') {
        out.push('[');
        for value in serde_json::from_str::<Vec<&RawValue>>(json)? {
            out.push_str(separator);
            write_canonical(value.get(), levels, out)?;
            separator = ",";
        }
        out.push(']');
    } else if json.starts_with('"') && json.contains('\\') {
        // Other languages escape more characters.
        out.push_str(&serde_json::to_string(&serde_json::from_str::<String>(
            json,
        )?)?);
    } else {
        out.push_str(json);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of a few kilobytes must not end the process.
    #[test]
    fn what_is_nested_too_deeply_is_compared_as_it_is() {
        let nested = |levels: usize| ["[".repeat(levels), "]".repeat(levels)].concat();
        let spaced = |levels: usize| ["[ ".repeat(levels), "]".repeat(levels)].concat();
        assert!(is_same_json(&nested(127), &spaced(127)));
        for levels in [200, 100_000] {
            assert_eq!(canonical(&spaced(levels)), spaced(levels));
            assert!(is_same_json(&nested(levels), &nested(levels)));
            assert!(!is_same_json(&nested(levels), &spaced(levels)));
        }
    }

    #[test]
    fn the_same_json_may_be_written_in_several_ways() {
        for (one, other) in [
            (r#"["\u00e4\/\n"]"#, "[\"\u{e4}/\\n\"]"),
            (r#"{"a":1,"b":[null]}"#, r#"{ "b" : [ null ], "a" : 1 }"#),
        ] {
            assert!(is_same_json(one, other), "{one} {other}");
        }
        let large = [
            "340282366920938463463374607431768211455",
            "340282366920938463463374607431768211454",
        ];
        assert!(!is_same_json(large[0], large[1]));
    }

    #[test]
    fn an_error_is_cut_off_and_has_no_nul() {
        assert_eq!(storable("a\0b"), "a\u{fffd}b");
        let whole = "\u{e9}".repeat(LONGEST_ERROR / 2);
        assert_eq!(storable(&whole), whole);
        assert_eq!(storable(&format!("{whole}x")), format!("{whole}\u{2026}"));
        // Never in the middle of a character.
        let cut = storable(&format!("x{whole}"));
        assert_eq!(cut.len(), LONGEST_ERROR - 1 + '\u{2026}'.len_utf8());
    }
}
