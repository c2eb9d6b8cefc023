//! A timer that does not wait, and so shows what the delay itself costs.

use std::future::{Ready, ready};
use std::hint::black_box;
use std::time::Duration;

use reattempt::timer::{BlockingTimer, Clock, Timer, Timestamp};

pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::ZERO)
    }
}

impl BlockingTimer for Still {
    #[inline]
    fn sleep(&self, delay: Duration) {
        black_box(delay);
    }
}

impl Timer for Still {
    type Sleep = Ready<()>;

    #[inline]
    fn sleep(&self, delay: Duration) -> Ready<()> {
        black_box(delay);
        ready(())
    }
}
