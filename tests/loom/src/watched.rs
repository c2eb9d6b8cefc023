//! The word of what is unusual: no bit is lost beside another, and one of several fillers stays until the last has gone.

use loom::thread;

use crate::watch;

#[allow(
    unreachable_pub,
    unexpected_cfgs,
    reason = "the core exports it, and has a test of its own"
)]
#[path = "../../../crates/reattempt-core/src/counted.rs"]
mod counted;

use counted::Counted;

/// Whoever observes sees its own bit, whoever else comes and goes.
#[test]
fn the_bit_of_the_scopes_goes_with_the_last_observer() {
    loom::model(|| {
        let observe = || {
            let _counted = Counted::one();
            watch::bits() & watch::SCOPE != 0
        };
        let other = thread::spawn(observe);
        assert!(observe());
        assert!(other.join().unwrap_or(false));
        assert_eq!(watch::bits() & watch::SCOPE, 0);
    });
}

/// The switch of retries and the scopes share the word.
#[test]
fn bits_that_change_together_are_both_changed() {
    loom::model(|| {
        watch::set(watch::OFF_BY_FILE);
        let other = thread::spawn(|| watch::set(watch::OFF_BY_CALL));
        watch::clear(watch::OFF_BY_FILE);
        assert!(other.join().is_ok());
        assert_eq!(watch::bits(), watch::OFF_BY_CALL);
    });
}
