//! Who is told of retries.

use crate::attempt::Retry;
use crate::run::Tell;

/// Is told of each retry, by many calls at once.
pub trait ObserveRetry<A> {
    /// A retry is about to happen.
    fn observe(&self, retry: &Retry<'_, A>);
}

impl<A> ObserveRetry<A> for () {
    fn observe(&self, _: &Retry<'_, A>) {}
}

impl<A, F: Fn(&Retry<'_, A>)> ObserveRetry<A> for Tell<F> {
    fn observe(&self, retry: &Retry<'_, A>) {
        (self.0)(retry);
    }
}
