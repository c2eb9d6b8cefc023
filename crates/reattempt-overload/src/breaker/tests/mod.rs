//! Breakers by a clock that the test moves.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the numbers of a test are small"
)]

mod calls;
mod probes;
mod settings;
mod states;
mod stats;
mod windows;

use core::time::Duration;
use std::cell::Cell;

use super::*;
use reattempt_core::Verdict;

/// A clock that moves by hand. Its random number makes every cool-down the longest by default.
struct Hand {
    now: Cell<Timestamp>,
    random: Cell<u64>,
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        self.now.get()
    }

    fn random(&self) -> u64 {
        self.random.get()
    }
}

impl Hand {
    fn at(origin: Duration) -> Self {
        Self {
            now: Cell::new(Timestamp::from_origin(origin)),
            random: Cell::new(0),
        }
    }

    fn new() -> Self {
        Self::at(Duration::ZERO)
    }

    fn pass(&self, duration: Duration) {
        self.now.set(self.now.get().after(duration));
    }

    fn back(&self, duration: Duration) {
        let now = self.now.get().since(ORIGIN).saturating_sub(duration);
        self.now.set(Timestamp::from_origin(now));
    }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn permit<'b>(breaker: &'b Breaker, clock: &Hand) -> Permit<'b> {
    breaker
        .permit_with_clock(clock)
        .expect("calls are let through")
}

/// The calls of `text`: `S`uccess, `F`ailure, `P`ermanent.
fn play(breaker: &Breaker, clock: &Hand, text: &str) {
    for call in text.chars() {
        let permit = permit(breaker, clock);
        match call {
            'S' => permit.succeeded_with_clock(clock),
            'F' => permit.failed_with_clock(Verdict::Transient, clock),
            _ => permit.failed_with_clock(Verdict::Permanent, clock),
        }
    }
}
