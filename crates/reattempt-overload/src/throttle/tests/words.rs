//! The words that calls share; `tests/loom` has the orders in which they meet.

use super::super::bucket::Bucket;
use super::super::meter::Meter;

#[test]
fn rounds_are_kept_apart() {
    let bucket = Bucket::new();
    bucket.add(7, true);
    bucket.add(7, false);
    assert_eq!((bucket.counts(7), bucket.counts(6)), ((2, 1), (0, 0)));
    bucket.add(8, false);
    assert_eq!((bucket.counts(8), bucket.counts(7)), ((1, 0), (0, 0)));
    bucket.add(7, true); // held up since the round before
    assert_eq!(bucket.counts(8), (2, 1));
    bucket.add(3, true); // set back
    assert_eq!(bucket.counts(3), (1, 1));
}

#[test]
fn rounds_wrap() {
    const LAST: u64 = (1 << 20) - 1;
    let bucket = Bucket::new();
    bucket.add(LAST, true); // of an untouched word, whose round is the one after
    assert_eq!(bucket.counts(LAST), (1, 1));
    bucket.add(LAST + 1, false);
    assert_eq!((bucket.counts(0), bucket.counts(1 << 20)), ((1, 0), (1, 0)));
}

#[test]
fn a_full_bucket_keeps_the_share() {
    const FULL: u64 = (1 << 22) - 1;
    let bucket = Bucket::new();
    for request in 0..FULL {
        bucket.add(5, request % 4 == 0);
    }
    assert_eq!(bucket.counts(5), (FULL, (FULL + 1) / 4));
    bucket.add(5, false);
    assert_eq!(bucket.counts(5), (FULL / 2 + 1, (FULL + 1) / 8));
}

fn measure(meter: &Meter, half_seconds: &[u64]) -> f64 {
    for half_second in half_seconds {
        meter.record(*half_second);
    }
    meter.rate()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn every_half_second_counts_for_four_fifths() {
    for start in [0, 1 << 33, (1 << 31) - 2] {
        let meter = Meter::new();
        assert!(close(measure(&meter, &[start, start]), 0.0), "{start}");
        let rate = measure(&meter, &[start + 1]);
        assert!(close(rate, 6.0 * 0.8), "{start} {rate}");
        let rate = measure(&meter, &[start + 1, start + 2]);
        assert!(close(rate, 4.0 * 0.8 + 4.8 * 0.2), "{start} {rate}");
        // One call in four half seconds.
        let rate = measure(&meter, &[start + 6]);
        assert!(close(rate, 0.5 * 0.8 + 4.16 * 0.2), "{start} {rate}");
    }
}

#[test]
fn a_late_call_counts_and_a_clock_set_back_begins_anew() {
    let meter = Meter::new();
    assert!(close(measure(&meter, &[9, 10, 9, 11]), 0.8 * 4.0 + 0.64));
    let before = meter.rate();
    assert!(close(measure(&meter, &[2, 2]), before));
    assert!(close(measure(&meter, &[3]), 0.8 * 6.0 + 0.2 * before));
}
