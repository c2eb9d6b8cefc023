//! A throttle under any operations of many calls: rates stay rates, waits end, places are not lost.
#![no_main]

use core::time::Duration;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use reattempt_fuzz::{HandClock, Jump};
use retry_runtime::throttle::Permit;
use retry_runtime::{Throttle, Verdict};

#[derive(Debug, Arbitrary)]
struct Input {
    kind: Kind,
    start: u64,
    operations: Vec<Operation>,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Kind {
    Adaptive {
        /// In tenths above one.
        factor: u16,
        /// In seconds.
        window: u16,
        /// In hundredths.
        ceiling: u8,
        minimum: u8,
    },
    Cubic,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Operation {
    Permit,
    Wait(u8),
    /// Waits for the delay that it gets, again and again.
    Out(u8),
    Spend(u8),
    Succeed(u8),
    Fail(u8),
    Throttled(u8),
    Permanent(u8),
    Drop(u8),
    /// So many calls, answered at once.
    Crowd(u8, bool),
    Reset,
    Clock(Jump),
}

fuzz_target!(|input: Input| {
    let throttle = input.kind.throttle();
    let mut run = Run {
        throttle: &throttle,
        kind: input.kind,
        clock: HandClock::new(input.start, input.start),
        calls: Vec::new(),
        latest: input.start,
    };
    for operation in input.operations.into_iter().take(300) {
        run.perform(operation);
        run.check();
        run.latest = run.latest.max(run.clock.nanos());
    }
    run.ends();
});

const SLICE: Duration = Duration::from_millis(500);

impl Kind {
    fn throttle(self) -> Throttle {
        match self {
            Self::Adaptive {
                factor,
                window,
                minimum,
                ..
            } => Throttle::adaptive()
                .factor(1.0 + f64::from(factor) / 10.0)
                .window(Duration::from_secs(u64::from(window.max(1))))
                .ceiling(self.ceiling())
                .min_requests(u32::from(minimum.max(1))),
            Self::Cubic => Throttle::cubic(),
        }
    }

    fn ceiling(self) -> f64 {
        match self {
            Self::Adaptive { ceiling, .. } => f64::from(ceiling % 100 + 1) / 100.0,
            Self::Cubic => 0.0,
        }
    }
}

struct Run<'t> {
    throttle: &'t Throttle,
    kind: Kind,
    clock: HandClock,
    calls: Vec<Permit<'t>>,
    /// The clock may go back; what was counted before that lies ahead.
    latest: u64,
}

impl Run<'_> {
    fn perform(&mut self, operation: Operation) {
        match operation {
            Operation::Permit => self.permit(),
            Operation::Wait(at) => {
                if let Some(index) = self.index(at) {
                    if let Ok(wait) = self.calls[index].wait_with_clock(&self.clock) {
                        assert!(wait <= SLICE && wait <= self.calls[index].wait());
                    }
                }
            }
            Operation::Out(at) => self.out(at),
            Operation::Spend(at) => {
                if let Some(index) = self.index(at) {
                    self.calls[index].spend();
                }
            }
            Operation::Succeed(at) => {
                if let Some(index) = self.index(at) {
                    self.calls
                        .swap_remove(index)
                        .succeeded_with_clock(&self.clock);
                }
            }
            Operation::Fail(at) => self.failed(at, Verdict::Transient),
            Operation::Throttled(at) => self.failed(at, Verdict::Throttled(None)),
            Operation::Permanent(at) => self.failed(at, Verdict::Permanent),
            Operation::Drop(at) => {
                if let Some(index) = self.index(at) {
                    drop(self.calls.swap_remove(index));
                }
            }
            Operation::Crowd(calls, well) => {
                for _ in 0..calls {
                    let Ok(permit) = self.throttle.permit_with_clock(&self.clock) else {
                        continue;
                    };
                    if well {
                        permit.succeeded_with_clock(&self.clock);
                    } else {
                        permit.failed_with_clock(Verdict::Throttled(None), &self.clock);
                    }
                }
            }
            Operation::Reset => self.reset(),
            Operation::Clock(jump) => self.clock.jump(jump),
        }
    }

    fn index(&self, at: u8) -> Option<usize> {
        usize::from(at).checked_rem(self.calls.len())
    }

    fn permit(&mut self) {
        match self.throttle.permit_with_clock(&self.clock) {
            Ok(permit) => {
                if matches!(self.kind, Kind::Adaptive { .. }) {
                    assert!(permit.wait().is_zero());
                }
                self.calls.push(permit);
            }
            Err(_) => assert!(matches!(self.kind, Kind::Adaptive { .. })),
        }
    }

    fn failed(&mut self, at: u8, verdict: Verdict) {
        if let Some(index) = self.index(at) {
            self.calls
                .swap_remove(index)
                .failed_with_clock(verdict, &self.clock);
        }
    }

    fn reset(&mut self) {
        self.throttle.reset();
        assert_eq!(self.throttle.fill_rate(), None);
        assert!(
            self.throttle
                .rejection_probability_with_clock(&self.clock)
                .abs()
                < 1e-9
        );
    }

    /// A caller that waits for its delay gets a turn.
    fn out(&mut self, at: u8) {
        let Some(index) = self.index(at) else {
            return;
        };
        let permit = &mut self.calls[index];
        for _ in 0..3 {
            match permit.wait_with_clock(&self.clock) {
                Ok(Duration::ZERO) | Err(_) => return,
                Ok(_) => {}
            }
            let wait = permit.wait();
            assert!(!wait.is_zero());
            let Some(after) = self.clock.nanos().checked_add(wait.as_nanos() as u64) else {
                return;
            };
            self.clock.set(after);
        }
        assert!(
            permit
                .wait_with_clock(&self.clock)
                .is_ok_and(|wait| wait.is_zero()),
            "no turn: {:?}",
            permit.wait()
        );
    }

    fn check(&self) {
        let rejection = self.throttle.rejection_probability_with_clock(&self.clock);
        assert!((0.0..=1.0).contains(&rejection), "{rejection}");
        if let Some(rate) = self.throttle.fill_rate() {
            assert!(rate.is_finite() && rate >= 0.5, "{rate}");
        }
        if let Some(rate) = self.throttle.measured_rate() {
            assert!(rate.is_finite() && rate >= 0.0, "{rate}");
        }
    }

    /// With nobody under way and nothing in the window somebody gets through at once, or after its wait.
    fn ends(mut self) {
        self.calls.clear();
        self.check();
        let day = 2 * 24 * 3600 * 1_000_000_000;
        let Some(later) = self.latest.max(self.clock.nanos()).checked_add(day) else {
            return;
        };
        self.clock.set(later);
        match self.kind {
            Kind::Adaptive { .. } => {
                assert!(
                    self.throttle.permit_with_clock(&self.clock).is_ok(),
                    "refused without a reason"
                );
            }
            Kind::Cubic => {
                self.permit();
                self.out(0);
                self.calls.clear();
            }
        }
    }
}
