//! The arguments of a step: a hash of them is in each record, and the arguments themselves where
//! the step may have to be undone.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::payload::canonical;

/// How many bytes of the SHA-256 are recorded: enough that different arguments never have the same
/// hash by chance.
const HASH_BYTES: usize = 16;

/// The hash of no arguments, which many steps have.
const HASH_OF_NONE: &str = "4f53cda18c2baa0c0354bb5f9a3ecbe5";

/// The arguments of a call.
#[derive(Debug)]
pub struct StepArguments {
    /// The hash, unless the step ignores it.
    pub(super) hash: Option<String>,
    /// A JSON array.
    pub(super) json: String,
    /// The key that the call was given.
    pub(super) key: Option<String>,
}

impl StepArguments {
    /// Returns the arguments of a call, each of them as JSON.
    pub(crate) fn new(
        is_compared: bool,
        arguments: impl IntoIterator<Item = serde_json::Result<String>>,
    ) -> serde_json::Result<Self> {
        let arguments: serde_json::Result<Vec<_>> = arguments.into_iter().collect();
        let json = format!("[{}]", arguments?.join(","));
        Ok(Self {
            hash: is_compared.then(|| hash(&json)),
            json,
            key: None,
        })
    }

    /// Names the call by a key.
    pub(crate) fn with_key(self, key: String) -> Self {
        Self {
            key: Some(key),
            ..self
        }
    }
}

/// Returns the hash of a JSON text. The order of keys and white space do not matter.
pub(super) fn hash(json: &str) -> String {
    if json == "[]" {
        return HASH_OF_NONE.to_owned();
    }
    compute_hash(json)
}

fn compute_hash(json: &str) -> String {
    let digest = Sha256::digest(canonical(json).as_bytes());
    let mut text = String::with_capacity(2 * HASH_BYTES);
    for byte in digest.iter().take(HASH_BYTES) {
        let digits = [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
        text.extend(digits.into_iter().flatten());
    }
    text
}

/// The recorded arguments of a step, for its compensation.
#[derive(Debug)]
pub struct UndoArguments<'a>(std::vec::IntoIter<&'a RawValue>);

impl<'a> UndoArguments<'a> {
    /// Splits a JSON array.
    pub(super) fn new(json: &'a str) -> serde_json::Result<Self> {
        let texts: Vec<&RawValue> = serde_json::from_str(json)?;
        Ok(Self(texts.into_iter()))
    }

    /// Reads the next argument.
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> serde_json::Result<T> {
        match self.0.next() {
            Some(text) => T::deserialize(text),
            None => Err(serde::de::Error::custom(
                "there are fewer arguments than the code has now",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter_and_everything_else_does() {
        let same = hash(r#"[{"b":[1,{"d":"x","c":1.50}],"a":null}]"#);
        assert_eq!(same.len(), 2 * HASH_BYTES);
        assert_eq!(
            same,
            hash(r#"[ {"a": null, "b": [1, {"c":1.50,"d":"x"}]} ]"#)
        );
        for other in [
            r#"[{"b":[1,{"d":"x","c":1.5}],"a":null}]"#,
            r#"[{"b":[{"d":"x","c":1.50},1],"a":null}]"#,
            r#"[{"b":[1,{"d":"y","c":1.50}],"a":null}]"#,
            r#"[{"b":[1,{"d":"x","c":1.50}]}]"#,
        ] {
            assert_ne!(same, hash(other), "{other}");
        }
    }

    #[test]
    fn a_hash_is_the_same_in_every_release() {
        assert_eq!(hash("[]"), "4f53cda18c2baa0c0354bb5f9a3ecbe5");
        assert_eq!(hash("[]"), compute_hash("[]"));
        assert_eq!(hash("[1]"), "080a9ed428559ef602668b4c00f114f1");
        assert_eq!(
            hash(r#"["a",18446744073709551616]"#),
            hash(r#"["a", 18446744073709551616]"#)
        );
    }
}
