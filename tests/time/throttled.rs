//! An error of throttling waits longer than a lost connection: the key `throttled_base`.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use reattempt::{Backoff, Jitter, Policy, RetryError, Verdict, retry, testing};

use crate::support::ms;

const BUSY: Verdict = Verdict::Throttled(None);
const LOST: Verdict = Verdict::Transient;

/// The delays of a call that fails with these, one after the other.
fn delays(policy: Policy, verdicts: &[Verdict]) -> Vec<Duration> {
    let _time = testing::virtual_time();
    let recorder = testing::record();
    let mut left = verdicts.iter();
    let answer = policy
        .on(|verdict: &Verdict| *verdict)
        .run(|| left.next().map_or(Ok(()), |verdict| Err(*verdict)));
    assert_eq!(answer, Ok(()));
    recorder.calls()[0].delays()
}

fn exact() -> Policy {
    Policy::new().max(9).jitter(Jitter::None)
}

/// Nothing is written: 1 s, and the count goes on, whatever failed before.
#[test]
fn the_default_is_a_second() {
    let waited = delays(exact(), &[BUSY, LOST, BUSY, LOST]);
    assert_eq!(waited, [ms(1_000), ms(200), ms(4_000), ms(800)]);
    // Drawn as other delays are.
    let seed = RandomState::new().hash_one(0);
    println!("seed {seed}");
    let _seed = testing::seed(seed);
    let drawn = delays(Policy::new().max(50).cap(ms(1_000)), &[BUSY; 40]);
    assert!(drawn.iter().all(|delay| *delay <= ms(1_000)), "{drawn:?}");
    assert!(drawn.iter().any(|delay| *delay > ms(300)), "{drawn:?}");
}

#[test]
fn each_shape_with_a_unit_takes_it() {
    let longer = |policy: Policy| delays(policy.throttled_base(ms(2_000)), &[BUSY; 3]);
    let shape = |shape| exact().backoff(shape);
    for (policy, waited) in [
        (exact(), [2_000, 4_000, 8_000]),
        (exact().first(ms(5_000)), [5_000, 7_000, 11_000]),
        (exact().base(ms(3_000)), [3_000, 6_000, 12_000]),
        (exact().cap(ms(2_500)), [2_000, 2_500, 2_500]),
        (exact().fast_first(true), [2_000, 4_000, 8_000]),
        (shape(Backoff::Fixed), [2_000, 2_000, 2_000]),
        (shape(Backoff::Linear), [2_000, 4_000, 6_000]),
        (shape(Backoff::Fibonacci), [2_000, 2_000, 4_000]),
        (shape(Backoff::ExpAboveFirst), [2_000, 4_000, 8_000]),
        (shape(Backoff::None).max(3), [0, 0, 0]),
        (shape(Backoff::Custom(&|_| ms(7))), [7, 7, 7]),
    ] {
        if policy.shape().is_none() {
            let two = delays(policy.throttled_base(ms(2_000)), &[BUSY; 2]);
            assert_eq!(two, [ms(0); 2]);
        } else {
            assert_eq!(longer(policy), waited.map(ms), "{policy:?}");
        }
    }
    let decorrelated = longer(exact().backoff(Backoff::Decorrelated));
    assert!(decorrelated.iter().all(|delay| *delay >= ms(2_000)));
}

/// Shapes whose least delay is their unit stay spread below the cap. The next delay does not grow from one of throttling.
#[test]
fn what_is_drawn_stays_spread() {
    let seed = RandomState::new().hash_one(0);
    println!("seed {seed}");
    let _seed = testing::seed(seed);
    for shape in [Backoff::Decorrelated, Backoff::ExpAboveFirst] {
        let drawn = delays(
            Policy::new().max(16).cap(ms(500)).backoff(shape),
            &[BUSY; 15],
        );
        assert!(
            drawn.iter().any(|delay| *delay != drawn[0]),
            "{shape:?} {drawn:?}"
        );
    }
    let waited = delays(Policy::new().backoff(Backoff::Decorrelated), &[BUSY, LOST]);
    assert!(waited[1] <= ms(300), "{waited:?}");
}

/// What the service says goes first.
#[test]
fn a_delay_of_the_error_is_taken() {
    let asked = Verdict::Throttled(Some(ms(10)));
    let waited = delays(exact(), &[asked, Verdict::Throttled(Some(ms(0)))]);
    assert!((ms(10)..=ms(11)).contains(&waited[0]), "{waited:?}");
    assert_eq!(waited[1], ms(2_000));
}

#[test]
fn the_attribute_has_the_key() {
    #[retry(max = 3, jitter = "none", throttled_base = "300ms", on = |_| BUSY)]
    fn call(left: &mut u32) -> Result<(), RetryError<&'static str>> {
        *left -= 1;
        if *left > 0 {
            return Err("busy");
        }
        Ok(())
    }
    let _time = testing::virtual_time();
    let recorder = testing::record();
    assert!(call(&mut 3).is_ok());
    assert_eq!(recorder.calls()[0].delays(), [ms(300), ms(600)]);
}
