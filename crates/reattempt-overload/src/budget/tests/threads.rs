use core::time::Duration;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{Hand, bare, deposit, drain};
use crate::budget::{Budget, FailureClass};
use reattempt_core::{Clock, Timestamp};

/// 10,000,000 operations of 4 threads on a clock that stands still: nothing is overdrawn, and nothing lost.
#[test]
fn four_threads() {
    const EACH: u32 = 2_500_000;
    let budget = bare(0.3);
    let clock = Hand::from(1 << 62);
    deposit(&budget, &clock, 1);
    let spent: u64 = in_four_threads(|| {
        let clock = Hand::from(1 << 62);
        (0..EACH)
            .filter(|step| mixed(&budget, &clock, *step))
            .count() as u64
    });
    let drained = drain(&budget, &clock);
    let deposits = u64::from(EACH) / 4 * 3 * 4 + 1;
    assert_eq!(spent + drained, deposits * 3 / 10);
    assert!(spent > 0, "none was left for the end");
}

/// The same while deposits get too old: nothing is overdrawn.
#[test]
fn four_threads_and_time() {
    const EACH: u32 = 200_000;
    static NOW: AtomicU64 = AtomicU64::new(0);
    struct Common;
    impl Clock for Common {
        fn now(&self) -> Timestamp {
            let now = NOW.fetch_add(20_000, Ordering::Relaxed);
            Timestamp::from_origin(Duration::from_nanos(now))
        }
    }
    let budget = bare(0.3).ttl(Duration::from_secs(1));
    let spent = in_four_threads(|| {
        (0..EACH)
            .filter(|step| mixed(&budget, &Common, *step))
            .count() as u64
    });
    let deposits = u64::from(EACH) / 4 * 3 * 4;
    let drained = drain(&budget, &Common);
    assert!(spent + drained <= deposits * 3 / 10, "{spent} {drained}");
    assert!(spent > deposits / 5, "{spent}");
}

/// Three deposits, then a withdrawal, of which every fifth is given back; whether it was spent.
fn mixed(budget: &Budget, clock: &impl Clock, step: u32) -> bool {
    let mut account = budget.account_with_clock(clock);
    if step % 4 != 3 {
        account.succeeded_with_clock(clock);
        return false;
    }
    let granted = account.withdraw_with_clock(FailureClass::Failed, clock);
    if step % 20 == 19 {
        return false;
    }
    account.spend();
    granted
}

fn in_four_threads(act: impl Fn() -> u64 + Sync) -> u64 {
    thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(&act));
        threads
            .map(|thread| thread.join().expect("no panic"))
            .iter()
            .sum()
    })
}
