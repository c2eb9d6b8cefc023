//! One case: a policy, what the attempts come to, and what surrounds the calls.

use std::time::Duration;

use reattempt::{Breaker, Verdict};

use crate::constants;
use crate::names::FORBIDDEN;
use crate::random::Random;
use crate::spec::{self, Spec};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    /// The random numbers of the delays are drawn from it.
    pub(crate) seed: u64,
    pub(crate) spec: Spec,
    /// The constant function whose policy this is.
    pub(crate) constant: Option<usize>,
    /// What the attempts come to; whatever comes after is a value.
    pub(crate) acts: Vec<Act>,
    /// Calls in a row, which share the budget and the breaker.
    pub(crate) calls: u32,
    /// One of [`BREAKERS`].
    pub(crate) breaker: Option<usize>,
    /// Whether the calls are made inside a retry of another call.
    pub(crate) nested: bool,
    /// Whether the operation has not used up its retries there.
    pub(crate) is_fresh: bool,
    /// A deadline around each call.
    pub(crate) outer_deadline: Option<Duration>,
    /// How much later than asked a delay ends.
    pub(crate) late: Duration,
    /// Whether time is that of tokio, which stands still.
    pub(crate) tokio: bool,
}

/// One attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Act {
    pub(crate) takes: Duration,
    pub(crate) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum End {
    Value,
    Error(Verdict),
    /// A value that `until` does not accept.
    NotFinal,
    Panic,
    /// It never ends by itself.
    Hangs,
}

/// What the rules accept as `reset_after`, also beside the default of `cap`.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// The breakers of cases, all different.
const BREAKERS: [fn() -> Breaker; 5] = [
    || Breaker::count_window(1).cooldown(Duration::from_millis(30)),
    || {
        Breaker::count_window(3)
            .failure_ratio(0.3)
            .cooldown(Duration::from_millis(5))
    },
    || {
        Breaker::count_window(4)
            .min_calls(2)
            .probes(2)
            .cooldown(Duration::from_millis(200))
    },
    || Breaker::count_window(6).min_calls(3).failure_ratio(1.0),
    || {
        Breaker::count_window(9)
            .min_calls(4)
            .cooldown(Duration::from_secs(1))
    },
];

impl Case {
    /// A random policy, or that of a constant function.
    pub(crate) fn random(seed: u64) -> Self {
        let mut case = Self::at_run_time(seed);
        let mut random = Random(!seed);
        if random.percent(15) {
            let index = random.index(constants::ALL.len());
            case.spec = spec::read(constants::ALL[index].keys);
            case.constant = Some(index);
            // A constant function has a breaker and a budget, or neither.
            if case.breaker.is_some() {
                let budget = random.index(spec::HOW_MANY);
                case.spec.push(format!("budget = {budget}"));
            }
        }
        if random.percent(30) {
            case.live_long(&mut random);
        }
        if case.constant.is_none() && random.percent(20) {
            let least = random.duration(12).as_nanos();
            case.spec.push(format!("throttled_base = \"{least}ns\""));
        }
        if case.constant.is_none() && random.percent(20) {
            case.spec.push("priority = \"low\"".to_owned());
        }
        case
    }

    /// A random policy. The record holds what comes of these: another choice here makes another record.
    pub(crate) fn at_run_time(seed: u64) -> Self {
        let random = &mut Random(seed);
        let spec = spec::random(random);
        let breaker = random.some(20, |random| random.index(BREAKERS.len()));
        let outer_deadline = random.some(15, |random| random.duration(12) * 8);
        let polls = random.percent(15);
        let length = 1 + random.below(12);
        let acts = (0..length).map(|_| Act {
            takes: random
                .some(40, |random| random.duration(11))
                .unwrap_or_default(),
            end: End::random(random, polls),
        });
        let acts = acts.collect();
        let mut case = Self {
            acts,
            calls: random.pick(&[1, 1, 2, 3]),
            breaker,
            nested: random.percent(15),
            is_fresh: false,
            outer_deadline,
            late: random
                .some(10, |random| random.duration(8))
                .unwrap_or_default(),
            seed: random.next(),
            spec,
            constant: None,
            tokio: false,
        };
        case.hang_within_limits();
        case
    }

    /// An attempt hangs only where something ends it: a limit of its own call.
    fn hang_within_limits(&mut self) {
        if !self.is_limited() {
            self.drop_acts(End::Hangs);
        }
    }

    /// Some attempts run for long, and that starts the count anew.
    fn live_long(&mut self, random: &mut Random) {
        let short = Duration::from_millis(1 << random.below(10));
        let healthy = random.pick(&[short, LONG]);
        for act in &mut self.acts {
            if random.percent(50) {
                act.takes = random.pick(&[
                    healthy,
                    healthy * 2,
                    healthy.saturating_sub(Duration::from_nanos(1)),
                ]);
            }
        }
        if self.constant.is_none() {
            self.spec
                .push(format!("reset_after = \"{}ns\"", healthy.as_nanos()));
        }
    }

    pub(crate) fn has(&self, end: End) -> bool {
        self.acts.iter().any(|act| act.end == end)
    }

    fn drop_acts(&mut self, end: End) {
        self.acts.retain(|act| act.end != end);
    }

    /// Whether its own policy may cut an attempt off.
    pub(crate) fn is_limited(&self) -> bool {
        spec::value(&self.spec, "deadline").is_some()
            || spec::value(&self.spec, "timeout").is_some()
    }

    pub(crate) fn breaker(&self) -> Breaker {
        self.breaker
            .map_or_else(|| Breaker::count_window(1), |index| BREAKERS[index]())
    }

    /// What is left for a driver that cannot do this, or does it otherwise: the words of `drivers.md`.
    pub(crate) fn leave_out(&mut self, part: &str) {
        match part {
            "time-outs" => {
                self.spec.retain(|key| !key.starts_with("timeout"));
                self.drop_acts(End::Hangs);
            }
            "polling" => self.drop_acts(End::NotFinal),
            "breakers" => self.breaker = None,
            "refused policies" => {
                while spec::policy(&self.spec).violation().is_some() {
                    self.spec.pop();
                }
                self.hang_within_limits();
            }
            "other timers" => {
                self.tokio = true;
                self.late = Duration::ZERO;
            }
            "parts of seconds" => self.acts.iter_mut().for_each(Act::in_seconds),
            "late timers" => self.late = Duration::ZERO,
            // Nothing to do here, or up to whoever compares.
            "cut-offs" | "views" => {}
            _ => panic!("drivers.md: nothing is called {part}"),
        }
    }

    /// The attempts take no time, so that none is cut off.
    pub(crate) fn hurry(&mut self) {
        self.drop_acts(End::Hangs);
        for act in &mut self.acts {
            act.takes = Duration::ZERO;
        }
    }
}

impl Act {
    fn in_seconds(&mut self) {
        if let End::Error(Verdict::TransientAfter(delay) | Verdict::Throttled(Some(delay))) =
            &mut self.end
        {
            *delay = Duration::from_secs(delay.as_secs());
        }
    }
}

impl End {
    fn random(random: &mut Random, polls: bool) -> Self {
        let asked = |random: &mut Random| match random.below(4) {
            0 => Duration::ZERO,
            1 => Duration::from_secs(random.below(90)),
            _ => random.duration(12),
        };
        Self::Error(match random.below(100) {
            0..55 => Verdict::Transient,
            55..60 => Verdict::TransientAfter(asked(random)),
            60..64 => Verdict::Throttled(None),
            64..70 => Verdict::Throttled(Some(asked(random))),
            70..80 => Verdict::Refused,
            80..82 => Verdict::Permanent,
            82..84 => FORBIDDEN,
            84..86 => return Self::Panic,
            86..90 => return Self::Hangs,
            90..96 if polls => return Self::NotFinal,
            _ => return Self::Value,
        })
    }
}
