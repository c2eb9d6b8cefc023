//! What a throttle answers: a permit for one attempt, or a refusal.

use core::fmt;
use core::num::NonZeroU64;
use core::time::Duration;

use super::{Kind, Throttle, longest, nanos};
use reattempt_core::process::ProcessClock;
use reattempt_core::{Classify, Clock, Timestamp, Verdict};

/// One attempt that a [`Throttle`] allows, when its turn has come: [`wait_with_clock`](Self::wait_with_clock).
///
/// Report the result of the attempt to it. A permit that is dropped without a result says nothing
/// about the service, and passes its place or its unspent token on to the calls behind it.
#[must_use = "dropped at once it gives its place away; hold it until the attempt has ended"]
#[derive(Debug)]
pub struct Permit<'t> {
    throttle: &'t Throttle,
    /// In nanoseconds, as `taken`, from the clock's origin: a permit is part of the future of each call.
    wait: u64,
    taken: u64,
    /// In the line for a token, or a token; it goes back when this is dropped.
    place: Option<NonZeroU64>,
}

impl<'t> Permit<'t> {
    pub(super) const fn new(throttle: &'t Throttle) -> Self {
        Self {
            throttle,
            wait: 0,
            taken: 0,
            place: None,
        }
    }

    /// A permit with a place in the line, taken now.
    pub(super) fn in_line(
        throttle: &'t Throttle,
        place: u64,
        wait: Duration,
        now: Timestamp,
    ) -> Self {
        Self {
            throttle,
            wait: saturated(wait),
            taken: nanos(now),
            place: NonZeroU64::new(place),
        }
    }

    /// Returns how long it is until the attempt may begin, at the rate of when the permit was given
    /// or last looked ([`wait_with_clock`](Self::wait_with_clock)).
    ///
    /// # Units and ranges
    ///
    /// 0 when the attempt may begin: always with [`Throttle::adaptive`]. Calls that ask later get
    /// later moments. It is a forecast: with [`Throttle::cubic`] answers make it shorter, failures longer; with
    /// [`Throttle::rate`] calls that leave the line make it shorter.
    pub fn wait(&self) -> Duration {
        Duration::from_nanos(self.wait)
    }

    /// When its turn had come, if it has.
    fn turn(&self) -> Option<u64> {
        (self.wait == 0).then_some(self.taken)
    }

    /// Returns how long to wait now, before asking again: the place in the line stays, while the
    /// rate may have changed.
    ///
    /// Calls are served in the order in which they asked. A permit that is dropped makes room for
    /// the calls behind it. Check [`wait`](Self::wait) against the deadline of the call.
    ///
    /// # Units and ranges
    ///
    /// At most 500 ms, and never 0 before the attempt may begin; then 0 for good. With [`Throttle::rate`] it is 0 for this
    /// moment: an attempt that begins later asks again.
    ///
    /// # Errors
    ///
    /// [`Refused`] once it has waited for [`max_wait`](Throttle::max_wait).
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::overload::throttle::{Refused, Throttle};
    /// use reattempt::timer::BlockingTimer;
    /// use std::time::Duration;
    ///
    /// fn send(throttle: &Throttle, timer: &impl BlockingTimer) -> Result<(), Refused> {
    ///     let mut permit = throttle.permit_with_clock(timer)?;
    ///     loop {
    ///         match permit.wait_with_clock(timer)? {
    ///             Duration::ZERO => break,
    ///             wait => timer.sleep(wait),
    ///         }
    ///     }
    ///     permit.spend();
    ///     // The request goes here.
    ///     permit.succeeded_with_clock(timer);
    ///     Ok(())
    /// }
    /// # use reattempt::Verdict;
    /// # use reattempt::timer::{Clock, Timestamp};
    /// # struct Hand(std::cell::Cell<Duration>);
    /// # impl Clock for Hand {
    /// #     fn now(&self) -> Timestamp {
    /// #         Timestamp::from_origin(self.0.get())
    /// #     }
    /// # }
    /// # impl BlockingTimer for Hand {
    /// #     fn sleep(&self, duration: Duration) {
    /// #         self.0.set(self.0.get() + duration);
    /// #     }
    /// # }
    /// # let (search, timer) = (Throttle::cubic(), Hand(std::cell::Cell::default()));
    /// # send(&search, &timer)?;
    /// # assert!(timer.0.get().is_zero());
    /// # search.permit_with_clock(&timer)?.failed_with_clock(Verdict::Throttled(None), &timer);
    /// # send(&search, &timer)?;
    /// # assert_eq!(timer.0.get(), Duration::from_secs(2));
    /// # Ok::<(), Refused>(())
    /// ```
    pub fn wait_with_clock(&mut self, clock: &impl Clock) -> Result<Duration, Refused> {
        const SLICE: Duration = Duration::from_millis(500);
        let Some(place) = self.place else {
            // It has begun, or there is no line.
            return Ok(Duration::ZERO);
        };
        match &self.throttle.kind {
            Kind::Cubic(cubic) if self.wait > 0 => {
                let now = clock.shared();
                self.wait = saturated(cubic.wait(place.get(), now));
                let taken = Timestamp::from_origin(Duration::from_nanos(self.taken));
                if self.wait > 0 && now.since(taken) >= longest(cubic.max_wait) {
                    return Err(Refused);
                }
            }
            Kind::Rate(rate) => {
                let (wait, now) = rate.wait(place.get(), self.turn(), || clock.shared());
                let taken = Timestamp::from_origin(Duration::from_nanos(self.taken));
                self.wait = saturated(wait);
                if self.wait == 0 {
                    self.taken = nanos(now);
                } else if now.since(taken) >= longest(rate.max_wait) {
                    return Err(Refused);
                }
            }
            Kind::Adaptive(_) | Kind::Cubic(_) => {}
        }
        Ok(self.wait().min(SLICE))
    }

    /// The attempt begins: its token is spent, whatever becomes of it. Before its turn it takes one that
    /// comes later, and the others wait longer.
    pub fn spend(&mut self) {
        let Some(place) = self.place.take().filter(|_| self.wait > 0) else {
            return;
        };
        match &self.throttle.kind {
            Kind::Adaptive(_) => {}
            Kind::Cubic(cubic) => cubic.spend(place.get()),
            Kind::Rate(rate) => rate.spend_early(place.get()),
        }
    }

    /// The attempt succeeded.
    pub fn succeeded(self) {
        self.succeeded_with_clock(&ProcessClock);
    }

    /// [`succeeded`](Self::succeeded) with a clock.
    pub fn succeeded_with_clock(mut self, clock: &impl Clock) {
        self.spend();
        let now = clock.shared();
        match &self.throttle.kind {
            Kind::Adaptive(adaptive) => adaptive.add(now, true),
            Kind::Cubic(cubic) => cubic.succeeded(now),
            Kind::Rate(_) => {}
        }
    }

    /// The attempt failed.
    ///
    /// [`Verdict::Permanent`] is an answer: the service is well. Any other verdict is none; only
    /// [`Verdict::Throttled`] lowers the rate of [`Throttle::cubic`].
    pub fn failed(self, verdict: Verdict) {
        self.failed_with_clock(verdict, &ProcessClock);
    }

    /// [`failed`](Self::failed) with a clock.
    pub fn failed_with_clock(mut self, verdict: Verdict, clock: &impl Clock) {
        if verdict == Verdict::Permanent {
            return self.succeeded_with_clock(clock);
        }
        self.spend();
        let now = clock.shared();
        match (&self.throttle.kind, verdict) {
            (Kind::Adaptive(adaptive), _) => adaptive.add(now, false),
            (Kind::Cubic(cubic), Verdict::Throttled(_)) => cubic.throttled(now),
            (Kind::Cubic(cubic), _) => cubic.failed(now),
            (Kind::Rate(_), _) => {}
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let Some(place) = self.place else {
            return;
        };
        match &self.throttle.kind {
            Kind::Adaptive(_) => {}
            Kind::Cubic(cubic) => cubic.give_back(place.get()),
            Kind::Rate(rate) => rate.give_back(place.get(), self.turn()),
        }
    }
}

/// A wait of more than five hundred years need not be exact.
fn saturated(wait: Duration) -> u64 {
    u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX)
}

/// A [`Throttle`] refused a call: the service accepts few of them at present, or its rate is used up.
///
/// Its verdict is [`Verdict::Refused`]: nothing was executed, and a later attempt may be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the throttle refused the call")
    }
}

impl std::error::Error for Refused {}

#[diagnostic::do_not_recommend]
impl Classify for Refused {
    fn classify(&self) -> Verdict {
        Verdict::Refused
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }
}
