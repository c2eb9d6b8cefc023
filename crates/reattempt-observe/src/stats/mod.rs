//! What was retried since the start, for each operation of the process: counted where something fails, read as a
//! snapshot.

mod breakers;
mod count;
mod json;
#[cfg(feature = "stats-page")]
mod page;
mod snapshot;
mod table;
mod words;

pub use breakers::add_breakers;
pub(crate) use count::report;
pub use count::reset;
#[cfg(feature = "stats-page")]
pub use page::stats_page;
pub use snapshot::{LastError, OperationStats, Stats};

/// What was retried since the start, for each operation: calls that recovered or gave up, attempts that failed,
/// delays, and the last error.
///
/// Its `Display` is a table, [`serde::Serialize`] gives the same for machines. Taking it costs a lock of each
/// operation for as long as it takes to copy it; what succeeds at once never comes to that lock.
///
/// At most 1000 operations are kept apart; those that come later are counted together, as `(others)`.
///
/// # Examples
///
/// ```
/// use reattempt::Policy;
/// use std::io::{Error, ErrorKind};
/// use std::time::Duration;
///
/// let policy = Policy::new().max(2).base(Duration::from_nanos(1));
/// let answer: Result<(), Error> = policy.run(|| Err(ErrorKind::TimedOut.into()));
/// assert!(answer.is_err());
///
/// let stats = reattempt::observe::stats();
/// println!("{stats}");
/// for operation in stats.operations() {
///     assert!(operation.calls() >= operation.recoveries());
/// }
/// ```
pub fn stats() -> Stats {
    count::snapshot(crate::event::now())
}

#[cfg(test)]
mod tests;
