//! The keys of a policy, and sets of them.

use core::fmt;

/// A key of a policy: its name in attributes and files, and the method of the builder.
///
/// A minor release may add keys, so match with a wildcard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each stands for the method of its name")]
pub enum Key {
    Max,
    Backoff,
    Base,
    First,
    Factor,
    Cap,
    Jitter,
    FastFirst,
    ResetAfter,
    Deadline,
    Timeout,
    MaxRetryAfter,
    Idempotent,
    Nested,
    Budget,
    Telemetry,
}

impl Key {
    /// Every key, in the order of the documentation.
    pub const ALL: [Self; 16] = [
        Self::Max,
        Self::Backoff,
        Self::Base,
        Self::First,
        Self::Factor,
        Self::Cap,
        Self::Jitter,
        Self::FastFirst,
        Self::ResetAfter,
        Self::Deadline,
        Self::Timeout,
        Self::MaxRetryAfter,
        Self::Idempotent,
        Self::Nested,
        Self::Budget,
        Self::Telemetry,
    ];

    /// The word for this key.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::Backoff => "backoff",
            Self::Base => "base",
            Self::First => "first",
            Self::Factor => "factor",
            Self::Cap => "cap",
            Self::Jitter => "jitter",
            Self::FastFirst => "fast_first",
            Self::ResetAfter => "reset_after",
            Self::Deadline => "deadline",
            Self::Timeout => "timeout",
            Self::MaxRetryAfter => "max_retry_after",
            Self::Idempotent => "idempotent",
            Self::Nested => "nested",
            Self::Budget => "budget",
            Self::Telemetry => "telemetry",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys(u32);

impl Keys {
    /// No key.
    pub const NONE: Self = Self(0);

    /// This set and `key`.
    #[must_use]
    pub const fn with(self, key: Key) -> Self {
        Self(self.0 | 1 << key as u32)
    }

    /// Returns the keys of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether `key` is in this set.
    pub const fn contains(self, key: Key) -> bool {
        self.0 & (1 << key as u32) != 0
    }

    /// Whether the two sets share a key.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the set of these keys.
    pub const fn of(keys: &[Key]) -> Self {
        let (mut set, mut rest) = (Self::NONE, keys);
        while let [key, tail @ ..] = rest {
            set = set.with(*key);
            rest = tail;
        }
        set
    }
}
