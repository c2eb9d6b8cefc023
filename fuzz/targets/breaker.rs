//! A breaker under any operations of many calls, beside a model of it in plain words. Its windows of calls are
//! counted exactly; of windows of time and of clocks that go back only what always holds is asked.
#![no_main]

use core::time::Duration;
use std::collections::VecDeque;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use reattempt_fuzz::{HandClock, Jump};
use retry_runtime::breaker::{Permit, State};
use retry_runtime::{Breaker, Verdict};

#[derive(Debug, Arbitrary)]
struct Input {
    settings: Settings,
    start: u64,
    operations: Vec<Operation>,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
struct Settings {
    window: Window,
    /// In hundredths.
    failures: u8,
    minimum: Option<u8>,
    /// The threshold in milliseconds, the ratio in hundredths.
    slow: Option<(u16, u8)>,
    /// In milliseconds.
    cooldown: Option<u16>,
    cap: Option<u16>,
    probes: u8,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Window {
    Calls(u16),
    /// In milliseconds.
    Time(u16),
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Operation {
    Permit,
    Succeed(u8),
    Fail(u8),
    /// With an error that says nothing.
    Permanent(u8),
    Drop(u8),
    ForceOpen,
    ForceClosed,
    Reset,
    Clock(Jump),
}

/// Of so many changes of the state no two have the same life, so no old permit is taken for a new one.
const MOST: usize = 120;

fuzz_target!(|input: Input| {
    let settings = input.settings;
    let breaker = settings.breaker();
    let mut run = Run {
        breaker: &breaker,
        clock: HandClock::new(input.start, input.start),
        calls: Vec::new(),
        model: Model::of(settings),
        is_exact: matches!(settings.window, Window::Calls(_)) && settings.slow.is_none(),
        passed: 0,
    };
    for operation in input.operations.into_iter().take(MOST) {
        run.perform(operation);
        run.check();
    }
    run.ends();
});

impl Settings {
    fn breaker(self) -> Breaker {
        let breaker = match self.window {
            Window::Calls(_) => Breaker::count_window(self.size()),
            Window::Time(millis) => {
                Breaker::time_window(Duration::from_millis(u64::from(millis.max(1))))
            }
        };
        let breaker = breaker
            .failure_ratio(f64::from(self.failures()) / 100.0)
            .min_calls(self.min_calls())
            .cooldown(self.cooldown())
            .cooldown_cap(self.cap())
            .probes(self.probes().into());
        match self.slow {
            Some((millis, ratio)) => breaker.slow_calls(
                Duration::from_millis(u64::from(millis.max(1))),
                f64::from(ratio % 100 + 1) / 100.0,
            ),
            None => breaker,
        }
    }

    fn size(self) -> u32 {
        match self.window {
            Window::Calls(calls) => u32::from(calls) % 1024 + 1,
            Window::Time(_) => u32::MAX,
        }
    }

    fn failures(self) -> u8 {
        self.failures % 100 + 1
    }

    fn min_calls(self) -> u32 {
        let default = if self.size() == u32::MAX {
            10
        } else {
            self.size()
        };
        let minimum = self.minimum.map_or(default, u32::from);
        minimum.clamp(1, self.size())
    }

    fn cooldown(self) -> Duration {
        Duration::from_millis(
            self.cooldown
                .map_or(5000, |millis| u64::from(millis.max(1))),
        )
    }

    fn cap(self) -> Duration {
        let cap = self.cap.map_or(60_000, u64::from);
        self.cooldown().max(Duration::from_millis(cap))
    }

    fn probes(self) -> u8 {
        // Few most of the time: more than there are operations would never close.
        if self.probes == u8::MAX {
            255
        } else {
            self.probes % 8 + 1
        }
    }

    /// The longest wait of so many openings in a row.
    fn longest(self, openings: u32) -> u64 {
        let cooldown = self.cooldown().as_millis() as u64;
        let cap = self.cap().as_millis() as u64;
        (cooldown << openings.saturating_sub(1).min(31)).min(cap)
    }
}

/// What the breaker says of itself, in plain words.
struct Model {
    settings: Settings,
    state: Kind,
    /// Changes so far: results of calls that began before the last do not count.
    life: u32,
    /// Openings since it was closed.
    openings: u32,
    /// The last calls: whether each failed.
    window: VecDeque<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Closed,
    /// Since when, in milliseconds of the clock.
    Open(u64),
    HalfOpen {
        issued: u32,
        succeeded: u32,
        /// The last permit.
        since: u64,
    },
    ForcedOpen,
    ForcedClosed,
}

impl Model {
    fn of(settings: Settings) -> Self {
        Self {
            settings,
            state: Kind::Closed,
            life: 0,
            openings: 0,
            window: VecDeque::new(),
        }
    }

    fn change(&mut self, state: Kind) {
        self.state = state;
        self.life += 1;
    }

    /// What it must answer; `None` where chance decides.
    fn admits(&self, now: u64) -> Option<bool> {
        let longest = self.settings.longest(self.openings);
        match self.state {
            Kind::Closed | Kind::ForcedClosed => Some(true),
            Kind::ForcedOpen => Some(false),
            Kind::Open(since) => {
                let passed = now.saturating_sub(since);
                if passed >= longest {
                    Some(true)
                } else if passed < longest - longest / 5 {
                    Some(false)
                } else {
                    None
                }
            }
            Kind::HalfOpen { issued, since, .. } => {
                let is_free = issued < u32::from(self.settings.probes());
                Some(is_free || now.saturating_sub(since) >= longest)
            }
        }
    }

    fn admitted(&mut self, now: u64) {
        match self.state {
            Kind::Open(_) => self.change(Kind::HalfOpen {
                issued: 1,
                succeeded: 0,
                since: now,
            }),
            Kind::HalfOpen {
                issued, succeeded, ..
            } => {
                if issued < u32::from(self.settings.probes()) {
                    let issued = issued + 1;
                    self.state = Kind::HalfOpen {
                        issued,
                        succeeded,
                        since: now,
                    };
                } else {
                    self.change(Kind::HalfOpen {
                        issued: succeeded + 1,
                        succeeded,
                        since: now,
                    });
                }
            }
            _ => {}
        }
    }

    /// A call of this life has ended.
    fn ended(&mut self, failed: bool, now: u64) {
        match self.state {
            Kind::Closed => {
                self.window.push_back(failed);
                if self.window.len() > self.settings.size() as usize {
                    self.window.pop_front();
                }
                let calls = self.window.len() as u64;
                let failures = self.window.iter().filter(|failed| **failed).count() as u64;
                let is_enough = calls >= u64::from(self.settings.min_calls());
                let share = failures * 100 >= calls * u64::from(self.settings.failures());
                if failures > 0 && is_enough && share {
                    self.open(now);
                }
            }
            Kind::HalfOpen { .. } if failed => self.open(now),
            Kind::HalfOpen {
                issued,
                succeeded,
                since,
            } => {
                let succeeded = succeeded + 1;
                if succeeded >= u32::from(self.settings.probes()) {
                    self.window.clear();
                    self.openings = 0;
                    self.change(Kind::Closed);
                } else {
                    self.state = Kind::HalfOpen {
                        issued,
                        succeeded,
                        since,
                    };
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, now: u64) {
        self.openings = (self.openings + 1).min(31);
        self.change(Kind::Open(now));
    }

    /// A probe of this life came to nothing.
    fn given_back(&mut self) {
        if let Kind::HalfOpen { issued, .. } = &mut self.state {
            *issued = issued.saturating_sub(1);
        }
    }
}

struct Run<'b> {
    breaker: &'b Breaker,
    clock: HandClock,
    /// With the life in which each began, and whether it was a probe.
    calls: Vec<(Permit<'b>, u32)>,
    model: Model,
    /// Whether the model knows all that the breaker does.
    is_exact: bool,
    /// Since the model began.
    passed: u64,
}

impl<'b> Run<'b> {
    fn now(&self) -> u64 {
        self.clock.nanos() / 1_000_000
    }

    fn perform(&mut self, operation: Operation) {
        match operation {
            Operation::Permit => self.permit(),
            Operation::Succeed(at) => {
                if let Some((permit, life)) = self.take(at) {
                    permit.succeeded_with_clock(&self.clock);
                    self.ended(life, false);
                }
            }
            Operation::Fail(at) => {
                if let Some((permit, life)) = self.take(at) {
                    permit.failed_with_clock(Verdict::Transient, &self.clock);
                    self.ended(life, true);
                }
            }
            Operation::Permanent(at) => {
                if let Some((permit, life)) = self.take(at) {
                    permit.failed_with_clock(Verdict::Permanent, &self.clock);
                    // The answer of a service that works: a probe has succeeded, a window leaves it out.
                    if let Kind::HalfOpen { .. } = self.model.state {
                        self.ended(life, false);
                    }
                }
            }
            Operation::Drop(at) => {
                if let Some((permit, life)) = self.take(at) {
                    drop(permit);
                    self.dropped(life);
                }
            }
            Operation::ForceOpen => {
                self.breaker.force_open();
                self.set(Kind::ForcedOpen);
            }
            Operation::ForceClosed => {
                self.breaker.force_closed();
                self.set(Kind::ForcedClosed);
            }
            Operation::Reset => {
                self.breaker.reset();
                self.model.window.clear();
                self.set(Kind::Closed);
                // From here on the model knows it again, unless windows are none of its business.
                let settings = self.model.settings;
                self.passed = 0;
                self.is_exact =
                    matches!(settings.window, Window::Calls(_)) && settings.slow.is_none();
            }
            Operation::Clock(jump) => self.jump(jump),
        }
    }

    fn take(&mut self, at: u8) -> Option<(Permit<'b>, u32)> {
        let index = usize::from(at).checked_rem(self.calls.len())?;
        Some(self.calls.swap_remove(index))
    }

    fn set(&mut self, state: Kind) {
        self.model.openings = 0;
        self.model.change(state);
    }

    fn permit(&mut self) {
        let refuses = self.breaker.refuses_with_clock(&self.clock);
        let answer = self.breaker.permit_with_clock(&self.clock);
        assert_eq!(refuses, answer.is_err());
        let expected = self.model.admits(self.now());
        match answer {
            Ok(permit) => {
                if self.is_exact {
                    assert_ne!(expected, Some(false), "{:?}", self.model.state);
                }
                self.model.admitted(self.now());
                self.calls.push((permit, self.model.life));
            }
            Err(open) => {
                if self.is_exact {
                    assert_ne!(expected, Some(true), "{:?}", self.model.state);
                }
                if let Some(wait) = open.retry_after() {
                    assert!(!wait.is_zero() && wait <= self.longest_shown(), "{wait:?}");
                }
            }
        }
    }

    /// By clocks that go back a wait may look longer than any that was drawn.
    fn longest_shown(&self) -> Duration {
        self.model.settings.cap() * 2 + Duration::from_secs(1)
    }

    fn ended(&mut self, life: u32, failed: bool) {
        if life == self.model.life {
            let now = self.now();
            self.model.ended(failed, now);
        }
    }

    fn dropped(&mut self, life: u32) {
        if life == self.model.life {
            self.model.given_back();
        }
    }

    fn jump(&mut self, jump: Jump) {
        let before = self.clock.nanos();
        let after = jump.from(before);
        self.clock.set(after);
        // Milliseconds are counted in 32 bits.
        self.passed = self.passed.saturating_add(after.abs_diff(before));
        let is_far = self.passed / 1_000_000 >= u64::from(u32::MAX / 4);
        if after < before || is_far {
            self.is_exact = false;
        }
    }

    fn check(&self) {
        let state = self.breaker.state_with_clock(&self.clock);
        let refuses = self.breaker.refuses_with_clock(&self.clock);
        match state {
            State::Closed | State::ForcedClosed => assert!(!refuses),
            State::Open | State::ForcedOpen => assert!(refuses),
            _ => {}
        }
        if !self.is_exact {
            return;
        }
        match self.model.state {
            Kind::Closed => assert_eq!(state, State::Closed),
            Kind::ForcedOpen => assert_eq!(state, State::ForcedOpen),
            Kind::ForcedClosed => assert_eq!(state, State::ForcedClosed),
            Kind::HalfOpen { .. } => assert_eq!(state, State::HalfOpen),
            Kind::Open(_) => match self.model.admits(self.now()) {
                Some(true) => assert_eq!(state, State::HalfOpen),
                Some(false) => assert_eq!(state, State::Open),
                None => {}
            },
        }
    }

    /// Whatever has happened: with nobody under way, and after the longest wait, a call gets through, and as many as
    /// there are probes close it. And never more than these are let through at once.
    fn ends(mut self) {
        self.calls.clear();
        if self.breaker.state_with_clock(&self.clock) == State::ForcedOpen {
            assert!(self.breaker.permit_with_clock(&self.clock).is_err());
            return;
        }
        let settings = self.model.settings;
        let wait = self.longest_shown().as_nanos() as u64;
        if self.breaker.refuses_with_clock(&self.clock) {
            let Some(later) = self.clock.nanos().checked_add(wait) else {
                return;
            };
            self.clock.set(later);
        }
        let mut probes = Vec::new();
        if self.breaker.state_with_clock(&self.clock) == State::HalfOpen {
            while let Ok(permit) = self.breaker.permit_with_clock(&self.clock) {
                assert_eq!(self.breaker.state_with_clock(&self.clock), State::HalfOpen);
                probes.push(permit);
                assert!(probes.len() <= settings.probes().into(), "too many probes");
            }
            assert!(!probes.is_empty(), "a permit has leaked");
            for permit in probes {
                permit.succeeded_with_clock(&self.clock);
            }
        }
        let state = self.breaker.state_with_clock(&self.clock);
        assert!(
            matches!(state, State::Closed | State::ForcedClosed),
            "{state:?}"
        );
    }
}
