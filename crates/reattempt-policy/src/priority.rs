//! Which calls the limits that many share refuse first.

use crate::words::words;

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

words! { #[doc(hidden)] Priority { Low "low", Normal "normal" } }
