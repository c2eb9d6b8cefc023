//! The key by which a service tells a second try from a second request.

use core::fmt;

/// 128 random bits, shown as 32 hexadecimal digits: the same for every attempt of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(u128);

impl IdempotencyKey {
    /// Returns the key with these bits.
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::string::ToString as _;

    use super::*;

    #[test]
    fn a_key_is_shown_as_its_digits() {
        let shown = IdempotencyKey::from_bits(0xA << 120 | 7).to_string();
        assert_eq!(shown, "0a000000000000000000000000000007");
    }
}
