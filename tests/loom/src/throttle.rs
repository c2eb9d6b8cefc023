//! Throttles: the buckets of the adaptive one, and the rate that the cubic one measures.

use loom::sync::Arc;
use loom::thread;

#[path = "../../../crates/reattempt-overload/src/throttle/bucket.rs"]
mod bucket;
#[path = "../../../crates/reattempt-overload/src/throttle/meter.rs"]
mod meter;

use bucket::Bucket;
use meter::Meter;

/// However calls meet, none is lost, and what a former round has left is counted by nobody.
#[test]
fn no_call_is_lost_where_a_round_begins() {
    loom::model(|| {
        let bucket = Arc::new(Bucket::new());
        bucket.add(6, true);
        let threads = [true, false].map(|accepted| {
            let bucket = Arc::clone(&bucket);
            thread::spawn(move || bucket.add(7, accepted))
        });
        bucket.add(7, true);
        for thread in threads {
            assert!(thread.join().is_ok());
        }
        assert_eq!((bucket.counts(7), bucket.counts(6)), ((3, 2), (0, 0)));
    });
}

/// A call that meets a reset counts or does not, as a whole.
#[test]
fn a_reset_leaves_no_half_of_a_call() {
    loom::model(|| {
        let bucket = Arc::new(Bucket::new());
        bucket.add(7, true);
        let thread = {
            let bucket = Arc::clone(&bucket);
            thread::spawn(move || bucket.add(7, true))
        };
        bucket.reset();
        assert!(thread.join().is_ok());
        let (requests, accepts) = bucket.counts(7);
        assert!(requests <= 1, "{requests}");
        assert_eq!(requests, accepts);
    });
}

/// A half second that ends at a reset may leave its rate, and no calls for the next one.
#[test]
fn a_reset_leaves_no_calls() {
    loom::model(|| {
        let meter = Arc::new(Meter::new());
        meter.record(1);
        let thread = {
            let meter = Arc::clone(&meter);
            thread::spawn(move || meter.record(2))
        };
        meter.reset();
        assert!(thread.join().is_ok());
        let left = meter.rate();
        assert!(left.abs() < 1e-9 || (left - 3.2).abs() < 1e-9, "{left}");
        // The call of the other thread may have come after it; the one before is gone, or in that rate.
        meter.record(3);
        let newest = (meter.rate() - 0.2 * left) / 1.6;
        assert!(newest < 2.0 + 1e-9, "{newest}");
    });
}

/// Three calls meet where a half second ends, a fourth one comes after it: whoever closes it, every call
/// is measured once.
#[test]
fn a_half_second_is_closed_once() {
    loom::model(|| {
        let meter = Arc::new(Meter::new());
        meter.record(1);
        let threads = [1, 2].map(|half_second| {
            let meter = Arc::clone(&meter);
            thread::spawn(move || meter.record(half_second))
        });
        meter.record(2);
        for thread in threads {
            assert!(thread.join().is_ok());
        }
        // 2 or 3 of the 4 calls were closed: the one of the first half second that is late counts
        // for the next. A second closing takes what is left.
        let closed = meter.rate() / 0.8 / 2.0;
        let first = closed.round();
        assert!((closed - first).abs() < 1e-9, "{closed}");
        meter.record(3);
        let newest = (meter.rate() - 0.2 * first * 1.6) / 1.6;
        assert!((first + newest - 5.0).abs() < 1e-9, "{first} {newest}");
    });
}
