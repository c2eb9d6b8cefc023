//! Code of others that looks on: what it panics with ends there.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs an observer that belongs to no call. If it panics, the call that it looks at goes on: the panic hook has reported it.
#[doc(hidden)]
pub fn shielded(observe: impl FnOnce()) {
    let _reported = catch_unwind(AssertUnwindSafe(observe));
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_panic_ends_here() {
        let mut runs = false;
        super::shielded(|| {
            runs = true;
            panic!("an observer");
        });
        assert!(runs);
    }
}
