//! Which calls the limits that many share refuse first.

/// How much a call matters beside the others that share its budget, bulkhead or throttle.
///
/// Half of what they have is closed to calls of a low priority: these lose before others do. What such a call calls has a low
/// priority, too, whatever its policy says: the lower one wins.
///
/// # Source
///
/// The criticality of requests in [Handling Overload](https://sre.google/sre-book/handling-overload/), of the book on Site
/// Reliability Engineering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Priority {
    /// Work that may fail while the service has too much to do, such as a batch or a prefetch.
    Low,
    /// All other work.
    #[default]
    Normal,
}

impl Priority {
    /// Returns the name of the variant, for code that is made of it.
    #[doc(hidden)]
    pub const fn variant(self) -> &'static str {
        match self {
            Self::Low => "Low",
            Self::Normal => "Normal",
        }
    }
}
