//! Keys that a store gives, where the caller gives none.

use crate::time::Time;

/// Returns a random key. Later keys sort behind earlier ones, so that a large store writes its
/// index in one place.
pub(crate) fn random_key(now: Time) -> String {
    let (micros, random) = (now.as_micros(), rand::random::<u64>());
    format!("~{micros:016x}{random:016x}")
}

/// Returns whether a key is one that only the store gives: to a child.
pub(super) fn is_of_store(key: &str) -> bool {
    key.starts_with('~') && !is_random_key(key)
}

/// Returns whether a key is a random one, which no caller submits again.
pub(crate) fn is_random_key(key: &str) -> bool {
    let is_hex = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    key.len() == 33 && key.starts_with('~') && key.bytes().skip(1).all(is_hex)
}
