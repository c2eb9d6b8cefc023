//! How long a database may take to answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::store::{ErrorKind, StoreError};
#[cfg(feature = "postgres")]
use crate::task::SHORTEST_LEASE;

/// The limit as long as no lease is known.
const DEFAULT: Duration = Duration::from_millis(2_500);

/// The shortest limit that follows from a lease: a server that is busy is not a server that is gone.
#[cfg(feature = "postgres")]
const SHORTEST: Duration = Duration::from_millis(250);

/// The longest limit.
const LONGEST: Duration = Duration::from_secs(60);

/// How often the limit is doubled at most.
const DOUBLINGS: u32 = 8;

/// How long a database may take to answer on one connection. Each late answer doubles the limit, so that what takes
/// long is done at last.
#[derive(Debug)]
pub(crate) struct Limits {
    /// In microseconds; all connections of a store share it.
    base: Arc<AtomicU64>,
    /// The answers in a row that did not come in time.
    late: AtomicU32,
}

impl Limits {
    pub(crate) fn new() -> Self {
        let base = u64::try_from(DEFAULT.as_micros()).unwrap_or(u64::MAX);
        Self {
            base: Arc::new(AtomicU64::new(base)),
            late: AtomicU32::new(0),
        }
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn of_another_connection(&self) -> Self {
        Self {
            base: Arc::clone(&self.base),
            late: AtomicU32::new(0),
        }
    }

    /// Takes note of the lease of a worker: an answer may take a quarter of the shortest one. No scheduler
    /// works under a lease below [`SHORTEST_LEASE`], so nothing follows from one.
    #[cfg(feature = "postgres")]
    pub(crate) fn set_lease(&self, lease: Duration) {
        if lease < SHORTEST_LEASE {
            return;
        }
        let quarter = lease.checked_div(4).unwrap_or_default();
        let quarter = quarter.max(SHORTEST).min(LONGEST).as_micros();
        let quarter = u64::try_from(quarter).unwrap_or(u64::MAX);
        // The worker with the shortest lease is the first to lose its tasks if an answer is late.
        self.base.fetch_min(quarter, Ordering::Relaxed);
    }

    /// Returns how long the next answer may take.
    pub(crate) fn current(&self) -> Duration {
        let base = Duration::from_micros(self.base.load(Ordering::Relaxed));
        let late = self.late.load(Ordering::Relaxed).min(DOUBLINGS);
        let factor = 1_u32.checked_shl(late).unwrap_or(u32::MAX);
        base.saturating_mul(factor).min(LONGEST)
    }

    /// Returns how long the first statements of a connection may take.
    #[cfg(feature = "postgres")]
    pub(crate) fn of_an_opening(&self) -> Duration {
        // A new connection prepares its statements first, which takes several answers whatever the
        // lease.
        self.current().max(DEFAULT)
    }

    /// Waits for an answer, as long as it may take.
    pub(crate) async fn limited<T>(
        &self,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let result = within(self.current(), work).await;
        match &result {
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                self.late.fetch_add(1, Ordering::Relaxed);
            }
            // Any answer in time shows that the server can answer, also an error.
            _ => self.late.store(0, Ordering::Relaxed),
        }
        result
    }
}

/// Waits for an answer, at most so long.
pub(crate) async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let result = tokio::time::timeout(limit, work).await;
    result.unwrap_or_else(|_| Err(timed_out()))
}

/// Returns the error for an answer that did not come in time.
pub(crate) fn timed_out() -> StoreError {
    StoreError::timed_out("the database has not answered in time")
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_take_a_quarter_of_a_lease_that_a_scheduler_may_have() {
        for (lease, limit) in [
            (Duration::from_millis(30), DEFAULT),
            (Duration::from_secs(40), DEFAULT),
            (Duration::from_secs(4), Duration::from_secs(1)),
            (SHORTEST_LEASE, SHORTEST),
        ] {
            let limits = Limits::new();
            limits.set_lease(lease);
            assert_eq!(limits.current(), limit, "{lease:?}");
        }
    }
}
