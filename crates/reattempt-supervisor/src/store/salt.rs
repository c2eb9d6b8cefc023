//! The random bits of a store.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// 128 random bits that a store gets when it is created. Two stores have different ones. They are secret: what
/// should be hard to guess can be computed from them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt(u128);

impl Salt {
    /// Returns new random bits.
    pub fn random() -> Self {
        Self(rand::random())
    }

    /// Returns the bits of a store that keeps them elsewhere.
    pub const fn from_u128(bits: u128) -> Self {
        Self(bits)
    }

    /// Returns the bits.
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// Puts the halves together that a database keeps, the high one first.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn from_halves(high: i64, low: i64) -> Self {
        let [high, low] = [high, low].map(|half| u128::from(half.cast_unsigned()));
        Self(high << 64 | low)
    }

    /// Returns the high half and the low one.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    #[expect(clippy::cast_possible_truncation, reason = "each half has its bits")]
    pub(crate) const fn halves(self) -> (i64, i64) {
        ((self.0 >> 64) as i64, self.0 as i64)
    }

    /// Returns the number that says which store this is. It can be shown.
    pub(crate) fn store_id(self) -> i64 {
        // A hash, because the salt itself must stay secret.
        let hash = Sha256::new()
            .chain_update(b"reattempt store")
            .chain_update(self.0.to_be_bytes())
            .finalize();
        let first = hash.first_chunk().copied();
        i64::from_be_bytes(first.unwrap_or_default())
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(..)")
    }
}
