//! Each observer of a scope is counted while it lives: the bit of the scopes goes with the last one.

use crate::sync::{Mutex, PoisonError, shared};
use crate::watch;

// How many there are in the scopes of all threads: most programs have none, and each failure asks.
shared!(COUNT: Mutex<usize> = Mutex::new(0));

/// One of them.
#[derive(Debug)]
pub struct Counted;

impl Counted {
    /// Counts one more, until it is dropped.
    pub fn one() -> Self {
        let mut count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_add(1);
        watch::set(watch::SCOPE);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_sub(1);
        if *count == 0 {
            watch::clear(watch::SCOPE);
        }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn the_bit_goes_with_the_last_one() {
        let is_set = || watch::has_any(watch::SCOPE);
        assert!(!is_set());
        let (one, other) = (Counted::one(), Counted::one());
        drop(one);
        assert!(is_set());
        drop(other);
        assert!(!is_set());
    }
}
