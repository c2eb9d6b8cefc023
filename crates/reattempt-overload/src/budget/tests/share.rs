//! The part of a budget that a process has.

use super::*;

/// A process of its own: a clock that draws, and a budget.
struct Process {
    clock: Drawing,
    budget: Budget,
}

struct Drawing(Hand, Cell<u64>);

impl Clock for Drawing {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn random(&self) -> u64 {
        // splitmix64.
        let state = self.1.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.1.set(state);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn processes(count: u32, budget: fn() -> Budget, seed: u64) -> Vec<Process> {
    let process = |number: u32| {
        let budget = budget();
        budget.divide_among(count);
        Process {
            clock: Drawing(
                Hand::from(1 << 40),
                Cell::new(seed ^ u64::from(number) << 32),
            ),
            budget,
        }
    };
    (0..count).map(process).collect()
}

fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    let seed = RandomState::new().hash_one(0);
    println!("seed {seed:#x}");
    seed
}

const KINDS: [fn() -> Budget; 4] = [
    || Budget::tokens(70).cost(1),
    || Budget::refunding(70),
    || Budget::per_success(0.1).initial(70).floor(0.0),
    || Budget::per_request(0.000_000_001).initial(70).floor(1e-6),
];

/// However often each asks, all together get as much as one budget has, in the mean.
#[test]
fn processes_have_one_budget_together() {
    let seed = fresh_seed();
    for (kind, budget) in KINDS.into_iter().enumerate() {
        for count in [2, 7, 69, 70, 71, 100, 1_000] {
            let granted: u64 = processes(count, budget, seed)
                .iter()
                .map(|process| {
                    (0..100)
                        .filter(|_| withdraw(&process.budget, &process.clock))
                        .count() as u64
                })
                .sum();
            // Five times the deviation of 1,000 draws of 0.07.
            assert!((29..=111).contains(&granted), "{kind} {count}: {granted}");
            // The first failures of calls bring a little to a budget that refunds.
            let is_exact = 70 % count == 0;
            assert!(
                !is_exact || (70..=73).contains(&granted),
                "{kind} {count}: {granted}"
            );
        }
    }
}

/// The floor is one for all of them, too.
#[test]
fn the_floor_is_divided() {
    let seed = fresh_seed();
    let floored = || Budget::per_success(0.1).initial(0).floor(1.0);
    let all = processes(50, floored, seed);
    let mut granted = 0_u32;
    for second in 0..1_000 {
        for process in &all {
            process.clock.0.set(f64::from(second));
            granted += u32::from(withdraw(&process.budget, &process.clock));
        }
    }
    assert!((850..=1_150).contains(&granted), "{granted}");
}

/// What a process earns by its own successes it has alone.
#[test]
fn deposits_are_not_divided() {
    let process = &processes(100, || bare(0.5), 1)[0];
    deposit(&process.budget, &process.clock, 10);
    assert_eq!(drain(&process.budget, &process.clock), 5);

    let process = &processes(100, || Budget::tokens(500).cost(5), 1)[0];
    for _ in 0..3 {
        assert_eq!(drain(&process.budget, &process.clock), 1);
        deposit(&process.budget, &process.clock, 5);
    }
}

/// A retry that helped comes back, and one that was not made.
#[test]
fn what_comes_back_is_what_was_paid() {
    for budget in [
        || Budget::tokens(200).cost(1),
        || Budget::refunding(200),
        || Budget::per_success(0.1).initial(200).floor(0.0),
    ] {
        let process = &processes(100, budget, 1)[0];
        let (budget, clock) = (&process.budget, &process.clock);
        let has = |tokens: f64| (budget.balance_with_clock(clock) - tokens).abs() < 1e-9;
        assert!(has(2.0));
        let mut account = budget.account_with_clock(clock);
        assert!(account.withdraw_with_clock(FailureClass::Failed, clock));
        assert!(has(1.0), "{budget:?} {}", budget.balance_with_clock(clock));
        drop(account);
        assert!(has(2.0));
        assert_eq!(drain(budget, clock), 2);
        budget.reset();
        assert!(has(200.0), "it is whole again");
    }
}

/// No process knows how many retries the others make in theirs.
#[test]
fn the_first_second_is_not_free() {
    let process = &processes(10, || Budget::refunding(10), 1)[0];
    assert!(withdraw(&process.budget, &process.clock));
    assert!(!withdraw(&process.budget, &process.clock));
}

/// A process that has a part of a token makes that part of its retries where they help.
#[test]
fn a_part_of_a_token_is_a_part_of_the_retries() {
    let seed = fresh_seed();
    let process = &processes(100, || Budget::refunding(70), seed)[0];
    let made = (0..10_000)
        .filter(|_| {
            let mut account = process.budget.account_with_clock(&process.clock);
            let is_made = account.withdraw_with_clock(FailureClass::Failed, &process.clock);
            account.spend();
            account.succeeded_with_clock(&process.clock);
            deposit(&process.budget, &process.clock, 4);
            is_made
        })
        .count();
    assert!((6_700..=7_300).contains(&made), "{made}");
}

/// The number of processes may change at any time: retries that are decided on, made or paid back stay what they were.
#[test]
fn a_number_that_changes_makes_no_tokens() {
    let seed = fresh_seed();
    for (kind, budget) in KINDS.into_iter().enumerate() {
        let made = |numbers: &[u32]| {
            let process = &processes(1, budget, seed)[0];
            let (budget, clock) = (&process.budget, &process.clock);
            // The first second of one that refunds is free.
            clock.0.set(1.0);
            assert!(withdraw(budget, clock));
            clock.0.set(3.0);
            let mut made = 0_u32;
            for round in 0..200 {
                budget.divide_among(numbers[round % numbers.len()]);
                let mut account = budget.account_with_clock(clock);
                let is_made = account.withdraw_with_clock(FailureClass::Failed, clock);
                budget.divide_among(numbers[(round + 1) % numbers.len()]);
                if round % 3 > 0 {
                    account.spend();
                    made += u32::from(is_made);
                }
                if round % 20 == 0 {
                    budget.divide_among(numbers[(round / 20) % numbers.len()]);
                    deposit(budget, clock, 1);
                }
            }
            made
        };
        let whole = made(&[1]);
        for numbers in [&[1, 1_000_000][..], &[1_000_000, 1], &[1, 2], &[1, 50, 3]] {
            let shared = made(numbers);
            // What is drawn may be one more.
            assert!(
                shared <= whole + 2,
                "{kind} {numbers:?}: {shared} of {whole}"
            );
        }
        assert!(whole >= 60, "{kind}: {whole}");
    }
}

/// A low call takes nothing of the half that is closed to it.
#[test]
fn half_of_a_share_is_closed_to_low_calls() {
    use reattempt_core::around::{Bounds, BoundsScope};
    let seed = fresh_seed();
    for (kind, budget) in KINDS.into_iter().enumerate() {
        for process in processes(10, budget, seed) {
            let low = {
                let _priority = BoundsScope::new(Bounds::LOW, false);
                drain(&process.budget, &process.clock)
            };
            let left = drain(&process.budget, &process.clock);
            assert!(
                (2..=4).contains(&low) && left + low >= 6,
                "{kind}: {low} {left}"
            );
        }
    }
}

/// Where less is left than the price of all, the number that is drawn decides: below what is left it pays.
#[test]
fn what_is_left_pays_by_chance() {
    for (random, left, paid) in [
        (4, 5, Some(true)),
        (5, 5, Some(false)),
        (19, 5, Some(false)),
        (20 + 4, 5, Some(true)),
        (19, 20, Some(true)),
        (0, 0, None),
        (0, 1, Some(true)),
        (1, 1, Some(false)),
    ] {
        let share = super::super::share::Share::of(2, random);
        assert_eq!(share.pay(left, 10), paid, "{random} of {left}");
    }
}
