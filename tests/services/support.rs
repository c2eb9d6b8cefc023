//! A policy with exact delays, and a timer that notes delays and waits for none of them.

use std::future::{Ready, ready};
use std::sync::Mutex;
use std::time::Duration;

use reattempt::timer::{Clock, Timer, Timestamp};
use reattempt::{Jitter, Policy};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// Three attempts; delays of 1 s and 2 s.
pub(crate) const POLICY: Policy = Policy::new()
    .max(3)
    .jitter(Jitter::None)
    .base(SECOND)
    .checked();

#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<Vec<Duration>>);

impl Notes {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    pub(crate) fn delays(&self) -> Vec<Duration> {
        self.0.lock().unwrap().clone()
    }
}

impl Clock for Notes {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.delays().iter().sum())
    }
}

impl Timer for Notes {
    type Sleep = Ready<()>;

    fn sleep(&self, duration: Duration) -> Ready<()> {
        self.0.lock().unwrap().push(duration);
        ready(())
    }
}
