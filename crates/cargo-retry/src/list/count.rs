//! How often something is done, as far as it is known.

/// How often something is done at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    Known(u64),
    Unlimited,
    /// It depends on a value that only the program knows.
    Unknown,
}

impl Count {
    pub(crate) fn combined(self, other: Self, known: impl Fn(u64, u64) -> u64) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Unlimited, _) | (_, Self::Unlimited) => Self::Unlimited,
            (Self::Known(one), Self::Known(other)) => Self::Known(known(one, other)),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        self.combined(other, u64::saturating_add)
    }

    pub(crate) fn times(self, other: Self) -> Self {
        self.combined(other, u64::saturating_mul)
    }

    pub(crate) fn less(self, other: Self) -> Self {
        self.combined(other, u64::saturating_sub)
    }

    pub(crate) fn most(self, other: Self) -> Self {
        if other.rank() > self.rank() {
            other
        } else {
            self
        }
    }

    /// For which of several chains is the longest.
    pub(crate) const fn rank(self) -> (u8, u64) {
        match self {
            Self::Known(count) => (0, count),
            Self::Unknown => (1, 0),
            Self::Unlimited => (2, 0),
        }
    }
}
