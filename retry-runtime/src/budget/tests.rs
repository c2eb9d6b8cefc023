use core::cell::Cell;
use core::time::Duration;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::account::{Class, Paid};
use super::{Budget, Kind};
use crate::timer::{Clock, Moment};
use crate::verdict::Verdict;

/// A clock that is set by hand.
struct Hand {
    origin: u64,
    since: Cell<Duration>,
}

impl Hand {
    const fn from(origin: u64) -> Self {
        Self {
            origin,
            since: Cell::new(Duration::ZERO),
        }
    }

    fn set(&self, seconds: f64) {
        self.since.set(Duration::from_secs_f64(seconds));
    }
}

impl Clock for Hand {
    fn now(&self) -> Moment {
        Moment::from_origin(Duration::from_nanos(self.origin)).after(self.since.get())
    }
}

/// Where clocks start: user clocks anywhere, those of `std` near 2^62.
const ORIGINS: [u64; 6] = [0, 1, 7_777_777_777, (1 << 62) - 5, 1 << 62, 1 << 63];

fn deposit(budget: &Budget, clock: &impl Clock, times: u32) {
    for _ in 0..times {
        budget.account_by(clock).succeeded_by(clock);
    }
}

fn withdraw(budget: &Budget, clock: &impl Clock) -> bool {
    let mut account = budget.account_by(clock);
    let granted = account.withdraw_by(Class::Failed, clock);
    account.spend();
    granted
}

fn drain(budget: &Budget, clock: &impl Clock) -> u64 {
    let mut granted = 0;
    while withdraw(budget, clock) {
        granted += 1;
    }
    granted
}

const fn bare(ratio: f64) -> Budget {
    Budget::per_success(ratio).floor(0.0).initial(0)
}

#[track_caller]
fn balances(budget: &Budget, clock: &Hand, expected: &[(f64, f64)]) {
    for (seconds, tokens) in expected {
        clock.set(*seconds);
        let balance = budget.balance_by(clock);
        assert!(
            (balance - tokens).abs() < 1e-6,
            "{balance} after {seconds} s from {}",
            clock.origin
        );
    }
}

#[test]
fn deposits_expire() {
    for origin in ORIGINS {
        let (budget, clock) = (bare(1.0), Hand::from(origin));
        deposit(&budget, &clock, 10);
        clock.set(9.0);
        deposit(&budget, &clock, 10);
        balances(
            &budget,
            &clock,
            &[(9.9, 20.0), (10.1, 10.0), (18.9, 10.0), (19.1, 0.0)],
        );
        assert!(!withdraw(&budget, &clock), "{origin}");
        // Long after, and as if nothing had been.
        clock.set(1e6);
        deposit(&budget, &clock, 3);
        assert_eq!(drain(&budget, &clock), 3, "{origin}");
    }
}

#[test]
fn many_deposits_expire_together() {
    let (budget, clock) = (bare(1.0), Hand::from(0));
    deposit(&budget, &clock, 100);
    balances(&budget, &clock, &[(9.9, 100.0), (10.1, 0.0)]);
}

#[test]
fn the_life_of_a_deposit() {
    for (ttl, balance) in [(1, 0.0), (9, 0.0), (11, 8.0), (60, 8.0)] {
        let (budget, clock) = (bare(1.0).ttl(Duration::from_secs(ttl)), Hand::from(5));
        deposit(&budget, &clock, 8);
        balances(&budget, &clock, &[(10.0, balance)]);
    }
}

#[test]
fn what_was_deposited_first_is_spent_first() {
    let (budget, clock) = (bare(1.0), Hand::from(0));
    deposit(&budget, &clock, 4);
    clock.set(5.0);
    deposit(&budget, &clock, 4);
    assert!((0..3).all(|_| withdraw(&budget, &clock)));
    balances(&budget, &clock, &[(9.9, 5.0), (10.1, 4.0)]);
    assert_eq!(drain(&budget, &clock), 4);
}

/// A minute of 1000 calls a second, looked at each second, with and without withdrawals that write samples.
#[test]
fn steady_traffic() {
    for origin in ORIGINS {
        let (budget, clock) = (bare(0.1), Hand::from(origin));
        for millis in 0..60_000 {
            clock.set(f64::from(millis) / 1000.0);
            deposit(&budget, &clock, 1);
            if millis >= 10_000 && millis % 100 == 0 {
                let balance = budget.balance_by(&clock);
                assert!(
                    (900.0..=1000.01).contains(&balance),
                    "{balance} after {millis} ms from {origin}"
                );
            }
        }
        assert!((900..=1000).contains(&drain(&budget, &clock)));
    }
}

/// In fast traffic few calls look at the clock; when it gets slow all do again.
#[test]
fn traffic_that_changes() {
    let (budget, clock) = (bare(1.0), Hand::from(0));
    let reads = Reads(&clock, Cell::new(0));
    for call in 0..50_000 {
        clock.set(f64::from(call) / 10_000.0);
        deposit(&budget, &reads, 1);
    }
    // One of 64, but for the first thousand.
    let read = reads.1.get();
    assert!((800..1_000).contains(&read), "{read}");
    // Up to 63 more do not look, unless a retry tells that it is slow now.
    for second in 6..100 {
        clock.set(f64::from(second));
        deposit(&budget, &reads, 1);
        if second == 90 {
            let balance = budget.balance_by(&clock);
            assert!((9.0..=10.0).contains(&balance), "{balance}");
        }
    }
    for call in 0..50_000 {
        clock.set(100.0 + f64::from(call) / 10_000.0);
        deposit(&budget, &reads, 1);
    }
    clock.set(105.7);
    assert!(withdraw(&budget, &clock));
    for second in 107..=125 {
        clock.set(f64::from(second));
        deposit(&budget, &reads, 1);
        assert!(withdraw(&budget, &clock), "{second}");
    }
}

/// Counts how often somebody looks at the clock.
struct Reads<'c>(&'c Hand, Cell<u32>);

impl Clock for Reads<'_> {
    fn now(&self) -> Moment {
        self.1.set(self.1.get() + 1);
        self.0.now()
    }
}

/// The words count on where their product wraps: 2^64 thousand millionths of a token are 36 thousand million
/// deposits of a half.
#[test]
fn words_that_wrap() {
    let unit = 1 << 63; // no ratio: two deposits wrap
    let credit = super::credit::Credit::new(unit);
    for expired in 0..10 {
        credit.deposit();
        assert_eq!(credit.left(expired + 1), 0);
        credit.expire(expired + 1);
    }
    let credit = super::credit::Credit::new(u64::MAX / 2 - 1);
    for expired in 0..10 {
        credit.deposit();
        assert!(credit.withdraw(expired), "{expired}");
        assert_eq!(credit.left(expired + 1), 0);
    }
}

#[test]
fn the_reserve() {
    for origin in ORIGINS {
        let (budget, clock) = (Budget::per_success(0.1), Hand::from(origin));
        balances(&budget, &clock, &[(0.0, 10.0)]);
        // A total outage in no time.
        assert_eq!(drain(&budget, &clock), 10);
        balances(&budget, &clock, &[(0.5, 0.5)]);
        assert!(!withdraw(&budget, &clock));
        clock.set(1.0);
        assert_eq!(drain(&budget, &clock), 1);
        clock.set(4.0);
        assert_eq!(drain(&budget, &clock), 3);
        clock.set(100.0);
        assert_eq!(
            drain(&budget, &clock),
            10,
            "never above what it starts with"
        );
    }
}

#[test]
fn the_floor() {
    let clock = Hand::from(0);
    for (per_second, initial, after_an_hour) in [
        (0.0, 10, 0),
        (0.0, 0, 0),
        (1.0, 0, 1),
        (0.001, 3, 3),
        (f64::MIN_POSITIVE, 3, 0),
        (0.1, u32::MAX, 360),
    ] {
        clock.set(0.0);
        let budget = Budget::per_success(0.1).floor(per_second).initial(initial);
        let granted = if initial == u32::MAX {
            0
        } else {
            drain(&budget, &clock)
        };
        assert_eq!(
            granted,
            if initial == u32::MAX {
                0
            } else {
                u64::from(initial)
            }
        );
        if initial == u32::MAX {
            let balance = budget.balance_by(&clock);
            assert!((balance - f64::from(u32::MAX)).abs() < 1e-6, "{balance}");
            continue;
        }
        clock.set(3600.0);
        assert_eq!(drain(&budget, &clock), after_an_hour, "{per_second}");
    }
    let (generous, clock) = (Budget::per_success(0.1).floor(f64::MAX), Hand::from(0));
    assert!((0..10).all(|_| withdraw(&generous, &clock)));
    clock.set(0.001);
    assert_eq!(drain(&generous, &clock), 10);
}

#[test]
fn deposits_are_spent_before_the_reserve() {
    let (budget, clock) = (Budget::per_success(1.0).floor(0.0), Hand::from(0));
    deposit(&budget, &clock, 5);
    assert!((0..5).all(|_| withdraw(&budget, &clock)));
    // What is left does not get too old.
    balances(&budget, &clock, &[(0.0, 10.0), (60.0, 10.0)]);
}

#[test]
fn a_call_deposits_when_it_begins() {
    let clock = Hand::from(0);
    let budget = Budget::per_request(0.5).floor(0.0).initial(0);
    for _ in 0..10 {
        let _call = budget.account_by(&clock); // and fails
    }
    deposit(&budget, &clock, 10); // and succeed, which brings nothing more
    let mut account = budget.account_by(&clock);
    for retry in 0..12 {
        let granted = account.withdraw_by(Class::Failed, &clock);
        account.spend();
        assert_eq!(granted, retry < 10, "of 21 halves");
    }
}

/// Back by a little, by a whole life, and by much.
#[test]
fn clocks_that_go_back() {
    for back in [0.1, 5.0, 10.0, 15.0, 1000.0] {
        let (budget, clock) = (Budget::per_success(1.0).initial(2), Hand::from(1 << 62));
        clock.set(2000.0);
        deposit(&budget, &clock, 3);
        assert_eq!(drain(&budget, &clock), 5);
        clock.set(2000.0 - back);
        assert_eq!(drain(&budget, &clock), 0, "nothing is spent twice");
        deposit(&budget, &clock, 3);
        assert_eq!(drain(&budget, &clock), 3, "{back}");
        // The reserve fills, and is no larger than it was.
        clock.set(2000.0 - back + 6.1);
        assert_eq!(drain(&budget, &clock), 2, "{back}");
    }
}

#[test]
fn what_is_not_spent_is_given_back() {
    let clock = Hand::from(0);
    let half = bare(0.5);
    deposit(&half, &clock, 5);
    let kinds = [
        half,
        Budget::per_success(0.1),
        Budget::per_success(0.1).floor(0.0),
        Budget::tokens(20).cost(7),
        Budget::grpc(10, 0.1),
    ];
    for budget in &kinds {
        let before = budget.balance_by(&clock);
        let same = |now: f64| assert!((now - before).abs() < 1e-9, "{now} {budget:?}");
        let mut account = budget.account_by(&clock);
        assert!(account.withdraw_by(Class::Failed, &clock));
        assert!(matches!(budget.kind, Kind::Grpc(_)) || budget.balance_by(&clock) < before);
        drop(account);
        same(budget.balance_by(&clock));
        // A second withdrawal in the place of a first that came to nothing.
        let mut account = budget.account_by(&clock);
        assert!(account.withdraw_by(Class::Failed, &clock));
        let once = budget.balance_by(&clock);
        assert!(account.withdraw_by(Class::Failed, &clock));
        assert!((budget.balance_by(&clock) - once).abs() < 1e-9);
        account.spend();
        account.spend();
        drop(account);
        assert!((budget.balance_by(&clock) - once).abs() < 1e-9);
    }
}

/// The parts that futures keep.
#[test]
fn reservations() {
    let (budget, clock) = (Budget::tokens(20), Hand::from(0));
    let first = budget
        .reserve(Class::TimedOut, &clock)
        .expect("20 are there");
    drop(first);
    let paid = budget.begin_by(&clock);
    assert_eq!(paid, Paid::default());
    let paid = budget
        .reserve(Class::TimedOut, &clock)
        .map(super::account::Reservation::spend);
    let paid = paid.expect("20 are there");
    assert!((budget.balance_by(&clock) - 10.0).abs() < 1e-9);
    budget.settle_success(paid, &clock);
    assert!((budget.balance_by(&clock) - 20.0).abs() < 1e-9);
}

/// A withdrawal that was given back is worth no more than its deposit, which has become too old.
#[test]
fn given_back_too_late() {
    let (budget, clock) = (bare(1.0), Hand::from(0));
    deposit(&budget, &clock, 1);
    let mut account = budget.account_by(&clock);
    assert!(account.withdraw_by(Class::Failed, &clock));
    clock.set(11.0);
    assert!(!withdraw(&budget, &clock));
    drop(account);
    assert!(!withdraw(&budget, &clock));
}

#[test]
fn classes() {
    let clock = Hand::from(0);
    let throttled = Verdict::Throttled(None);
    assert_eq!(Class::of(throttled), Class::Throttled);
    assert_eq!(Class::of(Verdict::Transient), Class::Failed);
    for (budget, costs) in [
        (Budget::tokens(100), [5, 10, 5]),
        (Budget::tokens(100).cost(3), [3, 10, 3]),
        (
            Budget::tokens(100)
                .throttled_cost(20)
                .cost(2)
                .timeout_cost(1),
            [2, 1, 20],
        ),
    ] {
        for (class, cost) in [Class::Failed, Class::TimedOut, Class::Throttled]
            .into_iter()
            .zip(costs)
        {
            let mut account = budget.account_by(&clock);
            assert!(account.withdraw_by(class, &clock));
            let left = budget.balance_by(&clock);
            assert!(
                (left - 100.0 + f64::from(cost)).abs() < 1e-9,
                "{class:?} {left}"
            );
        }
    }
}

/// R11, and settings of other kinds.
#[test]
fn refused() {
    type Make = fn() -> Budget;
    const SECOND: Duration = Duration::from_secs(1);
    let cases: [(Make, &str); 19] = [
        (|| Budget::per_success(0.0), "and this is 0;"),
        (
            || Budget::per_success(1.5),
            "`budget` is a share of the successful calls above 0.0 up to 1.0, and this is 1.5; write `budget = 0.1` for one retry per ten successes",
        ),
        (|| Budget::per_success(-0.1), "-0.1"),
        (|| Budget::per_request(f64::NAN), "NaN"),
        (|| Budget::per_request(1.001), "1.001"),
        (
            || Budget::per_success(0.1).ttl(Duration::from_millis(999)),
            "`ttl` of 999ms is below 1s, and hardly a success would count; leave it out for 10s",
        ),
        (
            || Budget::per_success(0.1).ttl(Duration::from_millis(60_001)),
            "is above 60s",
        ),
        (
            || Budget::per_success(0.1).floor(f64::INFINITY),
            "and this is infinity;",
        ),
        (
            || Budget::per_success(0.1).floor(-1.0),
            "`floor` is a finite number of retries per second from 0.0, and this is -1; write",
        ),
        (|| Budget::per_success(0.1).floor(f64::NAN), "NaN"),
        (|| Budget::tokens(0), "`tokens` of 0"),
        (
            || Budget::tokens(9).cost(0),
            "`cost` is from 1 to the 9 tokens that there are, and this is 0;",
        ),
        (
            || Budget::tokens(9).timeout_cost(10),
            "`timeout_cost` is from 1",
        ),
        (
            || Budget::tokens(9).throttled_cost(10),
            "`throttled_cost` is from 1",
        ),
        (
            || Budget::tokens(9).ttl(SECOND),
            "`ttl` is for budgets of deposits; drop it, or write `Budget::per_success(0.1)`",
        ),
        (
            || Budget::grpc(9, 0.1).floor(1.0),
            "`floor` is for budgets of deposits",
        ),
        (
            || Budget::grpc(9, 0.1).initial(1),
            "`initial` is for budgets of deposits",
        ),
        (
            || Budget::per_success(0.1).cost(5),
            "`cost` is for budgets of tokens; drop it, or write `Budget::tokens(500)`",
        ),
        (
            || Budget::grpc(9, 0.1).throttled_cost(5),
            "`throttled_cost` is for budgets of tokens",
        ),
    ];
    for (make, expected) in cases {
        let panic = std::panic::catch_unwind(make).expect_err(expected);
        let formatted = panic.downcast_ref::<String>().map(String::as_str);
        let message = formatted.or_else(|| panic.downcast_ref::<&str>().copied());
        let message = message.expect("a text");
        assert!(message.contains(expected), "{message}");
    }
    // The nearest that are accepted, as constants.
    const _: Budget = Budget::per_success(1.0).ttl(SECOND).floor(0.0).initial(0);
    const _: Budget = Budget::per_request(1e-12)
        .ttl(Duration::from_secs(60))
        .floor(f64::MAX);
    const _: Budget = Budget::tokens(1).cost(1).timeout_cost(1).throttled_cost(1);
}

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
        fn now(&self) -> Moment {
            let now = NOW.fetch_add(20_000, Ordering::Relaxed);
            Moment::from_origin(Duration::from_nanos(now))
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
    let mut account = budget.account_by(clock);
    if step % 4 != 3 {
        account.succeeded_by(clock);
        return false;
    }
    let granted = account.withdraw_by(Class::Failed, clock);
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
