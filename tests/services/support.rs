//! A timer that notes the delays and waits for none of them.

use std::future::{Ready, ready};
use std::sync::Mutex;
use std::time::Duration;

use reattempt::timer::{Clock, Moment, Timer};

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
    fn now(&self) -> Moment {
        Moment::from_origin(self.delays().iter().sum())
    }
}

impl Timer for Notes {
    type Sleep = Ready<()>;

    fn sleep(&self, duration: Duration) -> Ready<()> {
        self.0.lock().unwrap().push(duration);
        ready(())
    }
}
