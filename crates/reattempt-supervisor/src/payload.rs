//! How arguments and results are stored: as JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A type that one process can store as JSON and another can read back.
///
/// Every type that is `Serialize`, `DeserializeOwned`, `Send`, `Sync` and `'static` implements it.
#[diagnostic::on_unimplemented(
    message = "arguments and results of durable tasks are stored as JSON, and `{Self}` cannot be; add `#[derive(serde::Serialize, serde::Deserialize)]` to it",
    label = "expected a type that is `Serialize + DeserializeOwned + Send + Sync + 'static`",
    note = "rule D10: https://docs.rs/reattempt/latest/reattempt/guide/errors/#d10"
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
