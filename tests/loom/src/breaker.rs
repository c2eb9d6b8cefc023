//! Breakers: their word, and the windows of calls.

#[expect(dead_code, reason = "the models need not all of it")]
#[path = "../../../crates/reattempt-overload/src/breaker/buckets.rs"]
mod buckets;
#[expect(dead_code, reason = "the models need not all of it")]
#[path = "../../../crates/reattempt-overload/src/breaker/ring.rs"]
mod ring;
#[expect(dead_code, reason = "the models need not all of it")]
#[path = "../../../crates/reattempt-overload/src/breaker/state_word.rs"]
mod state_word;

use std::num::NonZeroU64;

use buckets::Buckets;
use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use ring::{Marks, Ring};
use state_word::{Kind, Limits, Seen, Word};

const COOLDOWN: u32 = 100;
const TWO: NonZeroU64 = NonZeroU64::MIN.saturating_add(1);

const fn limits(probes: u8) -> Limits {
    Limits {
        probes,
        cooldown: COOLDOWN,
        cap: 10 * COOLDOWN,
    }
}

fn model(preemptions: Option<usize>, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(f);
}

/// A word that has been open since 0, and the end of its cool-down.
fn open() -> (Word, u32) {
    let word = Word::new();
    let Some(cooldown) = word.open(word.seen(), 0, limits(1), 0) else {
        unreachable!("a new word is closed");
    };
    (word, cooldown)
}

/// Runs `f` in so many threads with the number of each, and the last one here.
fn together(threads: u32, f: impl Fn(u32) + Send + Sync + 'static) {
    let f = Arc::new(f);
    let others: Vec<_> = (1..threads)
        .map(|number| {
            let f = Arc::clone(&f);
            thread::spawn(move || f(number))
        })
        .collect();
    f(0);
    for other in others {
        assert!(other.join().is_ok());
    }
}

/// After everything has ended and every wait is over there is a permit, and when it succeeds often enough
/// the breaker closes.
fn is_not_stuck(word: &Word, probes: u8) {
    let later = 100 * COOLDOWN;
    for _ in 0..probes {
        let Ok(admitted) = word.admit(later, limits(probes)) else {
            unreachable!("no permit is left: {word:?}");
        };
        word.succeeded(admitted.permit, limits(probes), || ());
    }
    assert_eq!(word.seen().kind(), Kind::Closed);
}

/// Three calls come when the cool-down is over: no more than `probes` get a permit, one of them learns that it made
/// it half-open.
#[test]
fn no_more_probes_than_allowed() {
    for probes in [1, 2] {
        model(Some(3), move || {
            let (word, after) = open();
            let word = Arc::new(word);
            let admitted = Arc::new(AtomicU32::new(0));
            let half_opened = Arc::new(AtomicU32::new(0));
            let (shared, permits, changes) = (
                Arc::clone(&word),
                Arc::clone(&admitted),
                Arc::clone(&half_opened),
            );
            together(3, move |_| {
                if let Ok(admitted) = shared.admit(after, limits(probes)) {
                    permits.fetch_add(1, Ordering::Relaxed);
                    changes.fetch_add(admitted.half_opened.into(), Ordering::Relaxed);
                }
            });
            assert_eq!(admitted.load(Ordering::Relaxed), u32::from(probes));
            assert_eq!(half_opened.load(Ordering::Relaxed), 1);
            is_not_stuck(&word, probes);
        });
    }
}

/// Calls that come to nothing give their permits back, one each: none is lost, and none is made.
#[test]
fn no_permit_is_lost() {
    model(Some(2), || {
        let (word, after) = open();
        assert!(word.admit(after, limits(3)).is_ok());
        let word = Arc::new(word);
        let under_way = Arc::new(AtomicU32::new(0));
        let shared = Arc::clone(&word);
        together(3, move |_| {
            if let Ok(admitted) = shared.admit(after, limits(3)) {
                assert!(under_way.fetch_add(1, Ordering::Relaxed) < 2);
                under_way.fetch_sub(1, Ordering::Relaxed);
                shared.give_back(admitted.permit);
            }
        });
        // Both are there again, without any wait.
        assert!(word.admit(after, limits(3)).is_ok());
        assert!(word.admit(after, limits(3)).is_ok());
        assert!(word.admit(after, limits(3)).is_err());
    });
}

/// All probes succeed: it closes once, with an empty window that those who then count find empty.
#[test]
fn all_successes_close_it_once() {
    model(None, || {
        let (word, after) = open();
        let ring = Ring::new();
        ring.record(TWO, true, None);
        ring.record(TWO, true, None);
        let shared = Arc::new((word, ring));
        let closed = Arc::new(AtomicU32::new(0));
        let permits = [(); 2].map(|()| shared.0.admit(after, limits(2)).map(|it| it.permit));
        let (both, changes) = (Arc::clone(&shared), Arc::clone(&closed));
        together(2, move |number| {
            let (word, ring) = &*both;
            if let Some(Ok(permit)) = permits.get(number as usize) {
                let did = word.succeeded(*permit, limits(2), || ring.clear());
                changes.fetch_add(did.into(), Ordering::Relaxed);
            }
            if word.seen().is_closed() {
                let [failed, _] = ring.record(TWO, false, None);
                assert_eq!(failed.marked, 0);
            }
        });
        assert_eq!(closed.load(Ordering::Relaxed), 1);
        assert_eq!(shared.0.seen().kind(), Kind::Closed);
    });
}

/// Of three probes one fails, one succeeds and one comes to nothing: it is open, once, for twice as long.
#[test]
fn one_failure_opens_it_again() {
    model(Some(3), || {
        let (word, after) = open();
        let word = Arc::new(word);
        let permits = [(); 3].map(|()| word.admit(after, limits(3)).map(|it| it.permit));
        let opened = Arc::new(AtomicU32::new(0));
        let (shared, changes) = (Arc::clone(&word), Arc::clone(&opened));
        together(3, move |number| match (number, &permits) {
            (0, [Ok(permit), ..]) => {
                let drawn = shared.open(*permit, after, limits(3), 0);
                assert_eq!(drawn, Some(2 * COOLDOWN));
                changes.fetch_add(1, Ordering::Relaxed);
            }
            (1, [_, Ok(permit), _]) => assert!(!shared.succeeded(*permit, limits(3), || ())),
            (_, [.., Ok(permit)]) => shared.give_back(*permit),
            _ => unreachable!("all three have one"),
        });
        assert_eq!(opened.load(Ordering::Relaxed), 1);
        assert_eq!(word.seen().kind(), Kind::Open);
        assert!(word.admit(after, limits(3)).is_err());
        is_not_stuck(&word, 3);
    });
}

/// Two that fail: one of them opens it.
#[test]
fn an_opening_is_reported_once() {
    let opens = |prepare: fn() -> (Word, [Option<Seen>; 2])| {
        model(None, move || {
            let (word, permits) = prepare();
            let word = Arc::new(word);
            let opened = Arc::new(AtomicU32::new(0));
            let (shared, changes) = (Arc::clone(&word), Arc::clone(&opened));
            together(2, move |number| {
                if let Some(Some(permit)) = permits.get(number as usize) {
                    let drawn = shared.open(*permit, 7, limits(2), 0);
                    changes.fetch_add(drawn.is_some().into(), Ordering::Relaxed);
                }
            });
            assert_eq!(opened.load(Ordering::Relaxed), 1);
            is_not_stuck(&word, 2);
        });
    };
    // From closed, and half-open.
    opens(|| {
        let word = Word::new();
        let permit = Some(word.seen());
        (word, [permit, permit])
    });
    opens(|| {
        let (word, after) = open();
        let permits = [(); 2].map(|()| word.admit(after, limits(2)).ok().map(|it| it.permit));
        (word, permits)
    });
}

/// A probe hangs and ends just when another call takes its place: at most one of them counts.
#[test]
fn a_late_probe_and_its_successor() {
    model(None, || {
        let (word, after) = open();
        let hung = word.admit(after, limits(1)).map(|it| it.permit);
        let word = Arc::new(word);
        let closed = Arc::new(AtomicU32::new(0));
        let (shared, changes) = (Arc::clone(&word), Arc::clone(&closed));
        together(2, move |number| {
            let permit = match number {
                0 => hung,
                _ => shared
                    .admit(after + COOLDOWN, limits(1))
                    .map(|it| it.permit),
            };
            if let Ok(permit) = permit {
                let did = shared.succeeded(permit, limits(1), || ());
                changes.fetch_add(did.into(), Ordering::Relaxed);
            }
        });
        assert_eq!(closed.load(Ordering::Relaxed), 1);
        assert_eq!(word.seen().kind(), Kind::Closed);
    });
}

/// The same where it comes to nothing: the place of its successor stays taken.
#[test]
fn a_late_probe_gives_back_nothing() {
    model(None, || {
        let (word, after) = open();
        let hung = word.admit(after, limits(1)).map(|it| it.permit);
        let word = Arc::new(word);
        let shared = Arc::clone(&word);
        let later = after + COOLDOWN;
        together(2, move |number| match (number, hung) {
            (0, Ok(hung)) => shared.give_back(hung),
            _ => assert!(shared.admit(later, limits(1)).is_ok()),
        });
        assert!(word.admit(later, limits(1)).is_err());
        is_not_stuck(&word, 1);
    });
}

/// Whatever ends while somebody forces it, it stays as it was forced, and works after a reset.
#[test]
fn forced_while_a_probe_ends() {
    model(None, || {
        let (word, after) = open();
        let permit = word.admit(after, limits(1)).map(|it| it.permit);
        let word = Arc::new(word);
        let shared = Arc::clone(&word);
        together(2, move |number| {
            if let (0, Ok(permit)) = (number, permit) {
                shared.open(permit, after, limits(1), 0);
            } else {
                let before = shared.set(Kind::ForcedOpen, || ());
                assert!(matches!(before, Kind::Open | Kind::HalfOpen));
            }
        });
        assert_eq!(word.seen().kind(), Kind::ForcedOpen);
        assert_eq!(word.set(Kind::Closed, || ()), Kind::ForcedOpen);
        is_not_stuck(&word, 1);
    });
}

/// Two calls and one against them meet in the same place of a ring: in the end the count is that of the bits.
#[test]
fn counts_are_those_of_the_bits() {
    for before in [false, true] {
        model(Some(3), move || {
            let marks = Arc::new(Marks::new());
            marks.mark(0, before);
            let shared = Arc::clone(&marks);
            together(3, move |number| {
                shared.mark(0, (number == 1) == before);
                assert!(shared.count() <= 3);
            });
            assert_eq!(marks.count(), marks.bits());
        });
    }
}

/// The same while somebody empties it.
#[test]
fn counts_are_those_of_the_bits_after_emptying() {
    for (before, mark) in [(true, false), (true, true), (false, true)] {
        model(Some(3), move || {
            let marks = Arc::new(Marks::new());
            marks.mark(0, before);
            let shared = Arc::clone(&marks);
            together(2, move |number| match number {
                0 => shared.mark(0, mark),
                _ => shared.clear(),
            });
            assert_eq!(marks.count(), marks.bits());
        });
    }
}

/// Threads count in one bucket and none is lost, also when the bucket is one of an earlier round.
#[test]
fn a_bucket_loses_nothing() {
    model(Some(3), || {
        let buckets = Arc::new(Buckets::new());
        buckets.record(1, true);
        let shared = Arc::clone(&buckets);
        together(3, move |number| {
            shared.record(buckets::BUCKETS + 1, number == 1);
        });
        let counts = buckets.sum(buckets::BUCKETS + 1);
        assert_eq!((counts.calls, counts.marked), (3, 1));
    });
}
