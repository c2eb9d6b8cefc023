//! The size that finds itself, before a service that works on so many calls at once and lets the others wait.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    reason = "numbers of a simulation; tests that panic have failed"
)]

use core::cell::Cell;
use core::cmp::Reverse;
use core::time::Duration;
use std::collections::{BinaryHeap, VecDeque};

use reattempt_core::process::ProcessClock;
use reattempt_core::{Clock, Timestamp, Verdict};

use super::super::{Bulkhead, Permit};

/// What an answer takes on average.
const MEAN: f64 = 50e6;

/// A clock that is set by hand.
#[derive(Default)]
struct Hand(Cell<u64>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_nanos(self.0.get()))
    }
}

/// The generator `SplitMix64`.
struct Random(u64);

impl Random {
    /// From 0 to below 1.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        radius * (core::f64::consts::TAU * self.share()).cos()
    }
}

/// How long the service works on a call.
#[derive(Clone, Copy, Debug)]
enum Work {
    Constant,
    Exponential,
    LogNormal,
}

impl Work {
    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Constant => MEAN,
            Self::Exponential => random.exponential(MEAN),
            Self::LogNormal => (0.8 * random.normal() - 0.32).exp() * MEAN,
        }
    }
}

/// A service, and what comes to it.
struct Service {
    capacity: usize,
    work: Work,
    /// Calls that come, for each that it can answer.
    load: f64,
    calls: usize,
    /// How much slower it is from the middle on.
    slowdown: f64,
}

/// The 99 % quantile of the times of answers, the answers for each second of work, and the mean size in the last quarter: at
/// any moment the size may be that of a probe.
#[derive(Debug)]
struct Measured {
    p99: f64,
    goodput: f64,
    slots: f64,
}

impl Service {
    /// Plays it; the first third is not measured.
    fn play(&self, bulkhead: &Bulkhead, seed: u64) -> Measured {
        let clock = Hand::default();
        // The nth piece of work takes as long under each limit, so that chance favours none.
        let (mut arrivals, mut work) = (Random(seed), Random(!seed));
        let gap = MEAN / (self.load * self.capacity as f64);
        let (mut next, mut ends, mut queue) = (0.0, BinaryHeap::new(), VecDeque::new());
        let mut running: Vec<Option<(f64, Permit<'_>)>> = Vec::new();
        let (mut times, mut busy, mut slots) = (Vec::new(), 0, 0.0);
        let measured_from = gap * self.calls as f64 / 3.0;
        for number in 0..self.calls {
            next += arrivals.exponential(gap);
            if number >= self.calls / 4 * 3 {
                slots += f64::from(bulkhead.limit());
            }
            let slowdown = if number > self.calls / 2 {
                self.slowdown
            } else {
                1.0
            };
            while let Some(&Reverse((end, call))) = ends.peek()
                && (end as f64) < next
            {
                ends.pop();
                clock.0.set(end);
                let ended: &mut Option<(f64, Permit<'_>)> = &mut running[call];
                if let Some((began, permit)) = ended.take() {
                    permit.succeeded_with_clock(&clock);
                    if end as f64 > measured_from {
                        times.push(end as f64 - began);
                    }
                }
                match queue.pop_front() {
                    Some(waiting) => {
                        let time = self.work.draw(&mut work) * slowdown;
                        ends.push(Reverse((end + time as u64, waiting)));
                    }
                    None => busy -= 1,
                }
            }
            clock.0.set(next as u64);
            if let Ok(permit) = bulkhead.permit_with_clock(&clock) {
                let call = running.len();
                running.push(Some((next, permit)));
                if busy < self.capacity {
                    busy += 1;
                    let time = self.work.draw(&mut work) * slowdown;
                    ends.push(Reverse((next as u64 + time as u64, call)));
                } else {
                    queue.push_back(call);
                }
            }
        }
        times.sort_by(f64::total_cmp);
        Measured {
            p99: times[times.len() * 99 / 100],
            goodput: times.len() as f64 / (next - measured_from),
            slots: slots / (self.calls as f64 / 4.0),
        }
    }

    fn of(capacity: usize, work: Work, load: f64) -> Self {
        Self {
            capacity,
            work,
            load,
            calls: 180_000.max(capacity * 1_500),
            slowdown: 1.0,
        }
    }
}

/// A seed that is new each time, and printed.
fn seed() -> u64 {
    let seed = ProcessClock.random();
    println!("seed {seed}");
    seed
}

/// At three times the load that a service can bear: answers take at most twice as long as without load, and there are
/// nearly as many as with the best size.
#[test]
fn it_finds_the_size_of_five_services() {
    let seed = seed();
    for work in [Work::Constant, Work::Exponential, Work::LogNormal] {
        for capacity in [4, 8, 20, 64, 200] {
            let calm = Service::of(capacity, work, 0.2).play(&Bulkhead::new(u32::MAX), seed);
            let busy = Service::of(capacity, work, 3.0);
            // With so many that wait, no part of the service is ever idle: no size has a better goodput.
            let full = Bulkhead::new(4 * capacity as u32);
            let best = busy.play(&full, seed).goodput;
            let bulkhead = Bulkhead::adaptive();
            let found = busy.play(&bulkhead, seed);
            let (times, goodput) = (found.p99 / calm.p99, found.goodput / best);
            println!(
                "{capacity} {work:?}: {} slots, p99 {times:.2}, goodput {goodput:.3}",
                bulkhead.limit()
            );
            assert!(times <= 2.0, "{capacity} {work:?}: {times}, seed {seed}");
            assert!(
                goodput >= 0.95,
                "{capacity} {work:?}: {goodput}, seed {seed}"
            );
        }
    }
}

/// A service that takes three times as long for good keeps its size: the best time is measured anew.
#[test]
fn a_service_that_becomes_slower_keeps_its_slots() {
    let seed = seed();
    let service = Service {
        slowdown: 3.0,
        calls: 400_000,
        ..Service::of(20, Work::LogNormal, 3.0)
    };
    let bulkhead = Bulkhead::adaptive();
    let slots = service.play(&bulkhead, seed).slots;
    assert!((16.0..80.0).contains(&slots), "{slots}, seed {seed}");
}

/// Without a load, nothing is learned about more slots, and none are taken away.
#[test]
fn a_service_that_is_hardly_called_keeps_its_slots() {
    let seed = seed();
    let bulkhead = Bulkhead::adaptive();
    let _measured = Service::of(100, Work::LogNormal, 0.05).play(&bulkhead, seed);
    let limit = bulkhead.limit();
    assert!((10..=40).contains(&limit), "{limit}, seed {seed}");
}

/// Ends so many attempts, each of which took 50 ms.
fn end(bulkhead: &Bulkhead, clock: &Hand, count: usize, end: fn(Permit<'_>, &Hand)) {
    for _ in 0..count {
        let mut permits = Vec::new();
        while let Ok(permit) = bulkhead.permit_with_clock(clock) {
            permits.push(permit);
        }
        clock.0.set(clock.0.get() + 50_000_000);
        for permit in permits {
            end(permit, clock);
        }
    }
}

/// One call after the other: half of the slots would do, so none is taken away to measure, however long it goes on.
#[test]
fn calls_one_by_one_take_nothing_away() {
    let (bulkhead, clock) = (Bulkhead::adaptive(), Hand::default());
    for number in 0..5_000 {
        let permit = bulkhead
            .permit_with_clock(&clock)
            .expect("there is one slot");
        clock.0.set(clock.0.get() + 50_000_000);
        permit.succeeded_with_clock(&clock);
        assert_eq!(bulkhead.limit(), 20, "after {number}");
    }
}

/// Answers that take no time, as in virtual time, are no sign of too many slots.
#[test]
fn answers_at_once_take_nothing_away() {
    let (bulkhead, clock) = (Bulkhead::adaptive().bounds(2, 50), Hand::default());
    for _ in 0..500 {
        let permits: Vec<_> = (0..20)
            .map(|_| bulkhead.permit_with_clock(&clock))
            .collect();
        for permit in permits.into_iter().flatten() {
            permit.succeeded_with_clock(&clock);
        }
    }
    assert!(bulkhead.limit() >= 10, "{}", bulkhead.limit());
}

fn succeed(permit: Permit<'_>, clock: &Hand) {
    permit.succeeded_with_clock(clock);
}

/// From any size that an outage leaves.
#[test]
fn overload_takes_slots_away_and_answers_give_them_back() {
    for least in [1, 2, 3, 4, 7] {
        let (bulkhead, clock) = (Bulkhead::adaptive().bounds(least, 100), Hand::default());
        end(&bulkhead, &clock, 200, succeed);
        assert_eq!(bulkhead.limit(), 100);
        for overload in [
            |permit: Permit<'_>, clock: &Hand| {
                permit.failed_with_clock(Verdict::Throttled(None), clock);
            },
            |permit: Permit<'_>, clock: &Hand| {
                clock.0.set(clock.0.get() + 100_000_000);
                permit.timed_out_with_clock(clock);
            },
        ] {
            end(&bulkhead, &clock, 1000, overload);
            assert_eq!(bulkhead.limit(), least);
            end(&bulkhead, &clock, 1000, succeed);
            assert!(bulkhead.limit() >= 50, "{} from {least}", bulkhead.limit());
        }
    }
}

/// A service that throttles one call of twenty is not overloaded: on average most slots are there, whatever chance brings.
#[test]
fn a_few_throttled_calls_take_nothing_away() {
    let (bulkhead, clock) = (Bulkhead::adaptive().bounds(2, 40), Hand::default());
    let random = Cell::new(seed());
    let mut sum = 0;
    for _ in 0..2_000 {
        sum += bulkhead.limit();
        let mut permits = Vec::new();
        while let Ok(permit) = bulkhead.permit_with_clock(&clock) {
            permits.push(permit);
        }
        clock.0.set(clock.0.get() + 50_000_000);
        for permit in permits {
            let mut drawn = Random(random.get());
            let is_throttled = drawn.share() < 0.05;
            random.set(drawn.0);
            if is_throttled {
                permit.failed_with_clock(Verdict::Throttled(None), &clock);
            } else {
                permit.succeeded_with_clock(&clock);
            }
        }
    }
    assert!(sum > 2_000 * 20, "{sum}");
}

/// An attempt that its deadline ended when it had hardly begun says nothing.
#[test]
fn an_attempt_that_had_hardly_begun_says_nothing() {
    let (bulkhead, clock) = (Bulkhead::adaptive().bounds(2, 30), Hand::default());
    end(&bulkhead, &clock, 100, succeed);
    for _ in 0..1_000 {
        let permit = bulkhead
            .permit_with_clock(&clock)
            .expect("there is one slot");
        clock.0.set(clock.0.get() + 2_000_000);
        permit.timed_out_with_clock(&clock);
    }
    assert_eq!(bulkhead.limit(), 30);
}

/// Fewer workers than slots: none is ever refused, whatever the times of answers are.
#[test]
fn a_service_that_is_well_refuses_nobody() {
    let mut random = Random(seed());
    for workers in [5, 12, 15, 18, 20] {
        let (bulkhead, clock) = (Bulkhead::adaptive(), Hand::default());
        let mut permits: VecDeque<Permit<'_>> = VecDeque::new();
        for call in 0..20_000 {
            if permits.len() == workers {
                clock
                    .0
                    .set(clock.0.get() + random.exponential(MEAN / 10.0) as u64);
                let at = (random.share() * workers as f64) as usize;
                if let Some(permit) = permits.remove(at) {
                    permit.succeeded_with_clock(&clock);
                }
            }
            let permit = bulkhead.permit_with_clock(&clock);
            permits.push_back(permit.unwrap_or_else(|_| panic!("call {call} of {workers}")));
        }
    }
}

/// Errors that come without work say nothing, nor does an attempt that was dropped.
#[test]
fn other_errors_say_nothing() {
    let (bulkhead, clock) = (Bulkhead::adaptive(), Hand::default());
    for nothing in [
        |permit: Permit<'_>, clock: &Hand| permit.failed_with_clock(Verdict::Transient, clock),
        |permit: Permit<'_>, clock: &Hand| permit.failed_with_clock(Verdict::Refused, clock),
        |permit: Permit<'_>, _: &Hand| drop(permit),
    ] {
        end(&bulkhead, &clock, 100, nothing);
        assert_eq!((bulkhead.limit(), bulkhead.running()), (20, 0));
    }
}

#[test]
fn bounds_hold_from_the_beginning() {
    assert_eq!(Bulkhead::adaptive().bounds(1, 5).limit(), 5);
    assert_eq!(Bulkhead::adaptive().bounds(30, 50).limit(), 30);
    assert_eq!(Bulkhead::adaptive().limit(), 20);
    assert_eq!(
        Bulkhead::adaptive().bounds(1_000_000, 1_000_000).limit(),
        1_000_000
    );
}

#[test]
#[should_panic(
    expected = "the smaller one first, but are 5 and 4; write `bounds(2, 1000)`\nrule R10"
)]
fn bounds_in_the_wrong_order() {
    let _ = Bulkhead::adaptive().bounds(5, 4);
}

#[test]
#[should_panic(expected = "`bounds` is for `Bulkhead::adaptive()`")]
fn bounds_of_a_fixed_size() {
    let _ = Bulkhead::new(5).bounds(2, 4);
}
