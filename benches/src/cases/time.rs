//! A timer that does not wait, and so shows what the delay itself costs.

use std::hint::black_box;
use std::time::Duration;

use reattempt::timer::{Blocking, Clock, Moment};

pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> Moment {
        Moment::from_origin(Duration::ZERO)
    }
}

impl Blocking for Still {
    #[inline]
    fn sleep(&self, delay: Duration) {
        black_box(delay);
    }
}
