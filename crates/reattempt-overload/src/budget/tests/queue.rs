//! Deposits beside a queue of their dates, which is what they mean.

use std::collections::VecDeque;

use super::{Hand, bare, deposit, drain, withdraw};
use crate::budget::Budget;

/// Much traffic, a pause longer than a deposit lives, a little traffic, in which no call looked at the clock.
#[test]
fn traffic_after_a_pause() {
    for before in [0, 1, 100, 1600, 3_000, 100_000] {
        for after in [1, 60, 255, 256, 257, 5_000] {
            let (budget, clock) = (bare(1.0), Hand::from(1 << 62));
            for slot in 0..4 {
                clock.set(f64::from(slot) * 10.0 / 15.0);
                deposit(&budget, &clock, before);
            }
            deposit(&budget, &clock, 1);
            clock.set(14.0);
            deposit(&budget, &clock, after);
            let granted = drain(&budget, &clock);
            let after = u64::from(after);
            let name = format!("{granted} of {after} after {before}");
            assert!((after..=after + 255).contains(&granted), "{name}");
            assert!(granted <= after + u64::from(before) / 64, "{name}");
        }
    }
}

/// As above, with none after the pause: what is dated wrong is spent once, or gets too old.
#[test]
fn nothing_after_a_pause() {
    for before in [1, 100, 127, 128, 1000, 10_000, 100_000] {
        let (budget, clock) = (bare(1.0), Hand::from(0));
        deposit(&budget, &clock, before);
        clock.set(10.1);
        let few = f64::from((before / 64).min(256));
        let balance = budget.balance_with_clock(&clock);
        assert!(balance < few.max(1.0), "{balance} of {before}");
        withdraw(&budget, &clock);
        clock.set(20.2);
        let balance = budget.balance_with_clock(&clock);
        assert!(balance < 0.5, "{balance} of {before}");
    }
}

/// Random traffic: bursts and pauses of every length.
#[test]
fn as_a_queue() {
    for seed in 1..300 {
        let mut random = Random(seed);
        let (budget, clock) = (bare(1.0), Hand::from(1 << 62));
        // A deposit lives as long as it should, or a fifteenth shorter.
        let mut queues = [10.0, 10.0 * 14.0 / 15.0].map(Queue::living);
        let mut traffic = Queue::living(20.0);
        let mut now = 0.0;
        for _ in 0..60 {
            now += [0.0, 0.001, 0.1, 1.0, 9.0, 11.0, 100.0][random.below(7)];
            clock.set(now);
            let many = [0, 1, 30, 300, 3000][random.below(5)];
            deposit(&budget, &clock, many);
            traffic.deposit(now, many);
            for queue in &mut queues {
                queue.deposit(now, many);
            }
            let [most, least] = queues.each_mut().map(|queue| queue.left(now));
            // What was not seen: before a long pause, and before some that were shorter than a life.
            let (found, lost) = (255.0, 255.0 + traffic.left(now) / 64.0);
            let balance = budget.balance_with_clock(&clock);
            assert!(balance <= most + found, "{balance} of {most}, {seed}");
            assert!(balance >= least - lost, "{balance} of {least}, {seed}");
            if random.below(3) == 0 {
                for _ in 0..random.below(100) {
                    let granted = withdraw(&budget, &clock);
                    for queue in &mut queues {
                        queue.withdraw(granted, now);
                    }
                }
            }
        }
    }
}

/// A whole run grants no more than the queue does, but for a 64th part and at most 255 a pause.
#[test]
fn in_a_run() {
    for seed in 1..100 {
        let mut random = Random(seed);
        let (budget, clock) = (
            Budget::per_success(0.1).floor(0.0).initial(0),
            Hand::from(0),
        );
        let (mut granted, mut deposits, mut now) = (0, 0_u64, 0.0);
        for _ in 0..100 {
            now += [0.01, 0.3, 12.0][random.below(3)];
            clock.set(now);
            let many = [5, 50, 500][random.below(3)];
            deposit(&budget, &clock, many);
            deposits += u64::from(many);
            granted += drain(&budget, &clock);
        }
        // Withdrawn at once none gets too old, but for parts of a token at a pause.
        let expected = deposits / 10;
        assert!(granted <= expected, "{granted} of {expected}, {seed}");
        assert!(granted + 100 >= expected, "{granted} of {expected}, {seed}");
    }
}

/// Deposits by the time at which they came.
struct Queue {
    deposits: VecDeque<(f64, u32)>,
    life: f64,
}

impl Queue {
    const fn living(life: f64) -> Self {
        let deposits = VecDeque::new();
        Self { deposits, life }
    }

    fn deposit(&mut self, now: f64, many: u32) {
        self.deposits.push_back((now, many));
    }

    fn left(&mut self, now: f64) -> f64 {
        self.deposits.retain(|(at, _)| now - at < self.life);
        let left = self.deposits.iter().map(|(_, many)| f64::from(*many));
        left.sum()
    }

    /// The oldest of them, if one was granted.
    fn withdraw(&mut self, granted: bool, now: f64) {
        self.deposits
            .retain(|(at, many)| now - at < self.life && *many > 0);
        if let (true, Some((_, many))) = (granted, self.deposits.front_mut()) {
            *many -= 1;
        }
    }
}

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end
    }
}
