//! Throttles: they limit the calls to a service, by refusing a random share of them while it pushes back, or by a rate
//! that is measured or fixed. The caller decides what to do with a call that is refused or has to wait.
#![warn(clippy::arithmetic_side_effects)]

use core::fmt;
use core::time::Duration;

use reattempt_core::process::ProcessClock;
use reattempt_core::{Clock, Timestamp, around};

mod adaptive;
mod bucket;
mod cubic;
mod curve;
mod limit;
mod line;
mod meter;
mod permit;
mod rate;
mod rules;
mod settings;
#[cfg(test)]
mod tests;

use adaptive::Adaptive;
use cubic::Cubic;
pub use permit::{Permit, Refused};
use rate::Rate;

/// Makes fewer calls of a service that pushes back, before they cost it anything.
///
/// All calls to one service share a throttle, as a `static`. Each attempt asks for a [`Permit`]
/// first, waits until the permit allows it to begin, and reports its result to the permit.
///
/// # Examples
///
/// ```
/// use reattempt::overload::throttle::{Refused, Throttle};
/// use reattempt::timer::{BlockingTimer, ThreadTimer};
/// use reattempt::{Classify, Verdict};
/// use std::io::{Error, ErrorKind};
/// use std::time::Duration;
///
/// static SHOP: Throttle = Throttle::adaptive();
///
/// fn order(send: impl FnOnce() -> Result<u32, Error>) -> Result<Result<u32, Error>, Refused> {
///     let mut permit = SHOP.permit()?;
///     loop {
///         match permit.wait_with_clock(&ThreadTimer)? {
///             Duration::ZERO => break,
///             wait => ThreadTimer.sleep(wait),
///         }
///     }
///     permit.spend();
///     let answer = send();
///     match &answer {
///         Ok(_) => permit.succeeded(),
///         Err(error) => permit.failed(error.classify()),
///     }
///     Ok(answer)
/// }
///
/// assert_eq!(order(|| Ok(7))??, 7);
/// assert_eq!(SHOP.rejection_probability(), 0.0);
/// for _ in 0..100 {
///     let _ = order(|| Err(ErrorKind::TimedOut.into()));
/// }
/// assert!(SHOP.rejection_probability() > 0.9); // 101 calls, and one was accepted
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Throttle {
    kind: Kind,
}

enum Kind {
    Adaptive(Adaptive),
    Cubic(Cubic),
    Rate(Rate),
}

impl Throttle {
    /// Turns a share of the calls away, so that hardly more than [`factor`](Self::factor) of them are
    /// made for each that the service accepts.
    ///
    /// A call counts when it ends: as a request, and as accepted if the service answered and did
    /// not push back. A refused call counts as a request, too, so the refused share grows while
    /// nothing gets better. A permit that is dropped without a result does not count.
    ///
    /// # Units and ranges
    ///
    /// The throttle refuses a call with the probability
    /// `max(0, (requests - factor * accepts) / (requests + 1))`, from the requests and accepts of
    /// the last two minutes ([`window`](Self::window)). The probability is at most 0.8
    /// ([`ceiling`](Self::ceiling)), and 0 below 10 requests
    /// ([`min_requests`](Self::min_requests)).
    ///
    /// Calls of a low [priority](reattempt_policy::Priority) are refused first: with half of the factor, but at least 1, and
    /// up to a probability in the middle between the ceiling and 1, so 0.9. Those that are refused do not count.
    ///
    /// # Source
    ///
    /// [Handling Overload](https://sre.google/sre-book/handling-overload/) in the book on Site
    /// Reliability Engineering.
    #[must_use = "a throttle does nothing unless calls ask it for a permit"]
    pub const fn adaptive() -> Self {
        Self {
            kind: Kind::Adaptive(Adaptive::new()),
        }
    }

    /// Lets a number of calls a second pass, and finds out how many the service takes. The others
    /// wait; one that has waited for a minute ([`max_wait`](Self::max_wait)) is refused.
    ///
    /// There is no limit until the service throttles a call
    /// ([`Verdict::Throttled`](reattempt_core::Verdict::Throttled)). Each throttled call lowers the
    /// rate to 0.7 of the measured one. Answers raise it again: slowly near the rate at which the
    /// service last throttled, fast beyond it. Other failures do not change it.
    ///
    /// # Units and ranges
    ///
    /// A call of a low [priority](reattempt_policy::Priority) waits half as long as others before it is refused.
    ///
    /// At least one call in two seconds, at most twice the rate that is measured. A permit is one
    /// token; those of one second can be saved up, but always one. Where 100 calls wait because the
    /// first one was throttled, and the service answers at once from then on, they begin after 2 s to 7 s.
    ///
    /// # Source
    ///
    /// The client-side rate limiting of the AWS SDKs'
    /// [adaptive retry mode](https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html), which has the
    /// curve of the congestion control [CUBIC](https://www.rfc-editor.org/rfc/rfc9438). There, a
    /// call that has waited asks again beside all others; here it has its place, so first asked is first served.
    #[must_use = "a throttle does nothing unless calls ask it for a permit"]
    pub const fn cubic() -> Self {
        Self {
            kind: Kind::Cubic(Cubic::new()),
        }
    }

    /// Lets at most `calls` attempts begin in each period of this length, whatever the service says: for an account with
    /// a quota, or a service that is known to be small. The others wait, first asked, first served; one whose turn is
    /// further away than a minute ([`max_wait`](Self::max_wait)) is refused at once. For a call of a low
    /// [priority](reattempt_policy::Priority) that is half of it: only others stand in the second half of the line.
    ///
    /// No period, wherever it starts, contains more than `calls` beginnings, as this process makes them: a thread that is
    /// held up, or the network, may bring two of them closer together at the service. So `calls` attempts may begin
    /// together, and then none for a period. Of several processes each needs its share. All calls need one clock: with a
    /// `timer` of one's own for some of them, the attempts of the others are forgotten. A hedge has one permit for all its
    /// copies, and a `verify` needs none.
    ///
    /// # Units and ranges
    ///
    /// 1 to 100,000 calls, in 1 ms to 24 h. It keeps about 16 bytes for each call of a period, and 32 for each that waits.
    ///
    /// # Panics
    ///
    /// Outside this range; in a `static` that is an error of the compiler.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{GiveUpReason, RetryError, Throttle, retry};
    /// use std::io::Error;
    /// use std::time::Duration;
    ///
    /// static QUOTA: Throttle =
    ///     Throttle::rate(2, Duration::from_secs(3600)).max_wait(Duration::ZERO);
    ///
    /// #[retry(throttle = &QUOTA)]
    /// fn send() -> Result<(), RetryError<Error>> {
    ///     Ok(())
    /// }
    ///
    /// assert!(send().is_ok() && send().is_ok());
    /// assert_eq!(send().unwrap_err().reason(), GiveUpReason::Throttle);
    /// ```
    #[must_use = "a throttle does nothing unless calls ask it for a permit"]
    #[track_caller]
    pub const fn rate(calls: u32, per: Duration) -> Self {
        settings::refuse(rules::rate(calls, per).as_ref());
        Self {
            kind: Kind::Rate(Rate::new(calls, per)),
        }
    }

    /// Asks for one attempt.
    ///
    /// # Errors
    ///
    /// [`Refused`], from `adaptive`, and from `rate` if the turn comes too late; a permit of `cubic` says it
    /// [later](Permit::wait_with_clock).
    #[inline]
    pub fn permit(&self) -> Result<Permit<'_>, Refused> {
        self.permit_with_clock(&ProcessClock)
    }

    /// [`permit`](Self::permit) with a clock.
    ///
    /// # Errors
    ///
    /// [`Refused`], from `adaptive`, and from `rate` if the turn comes too late.
    pub fn permit_with_clock(&self, clock: &impl Clock) -> Result<Permit<'_>, Refused> {
        match &self.kind {
            Kind::Adaptive(adaptive) if adaptive.refuses(clock.shared(), || clock.random()) => {
                Err(Refused)
            }
            Kind::Adaptive(_) => Ok(Permit::new(self)),
            Kind::Cubic(cubic) => Ok(match cubic.take(|| clock.shared()) {
                None => Permit::new(self),
                Some((place, wait, now)) => Permit::in_line(self, place, wait, now),
            }),
            Kind::Rate(rate) => {
                let (place, wait, now) = rate.take(|| clock.shared())?;
                Ok(Permit::in_line(self, place, wait, now))
            }
        }
    }

    /// Returns the share of the calls that [`adaptive`](Self::adaptive)'s formula turns away now; 0
    /// of the others.
    ///
    /// What [`permit`](Self::permit) does is bounded by [`ceiling`](Self::ceiling) and
    /// [`min_requests`](Self::min_requests), this number is not.
    pub fn rejection_probability(&self) -> f64 {
        self.rejection_probability_with_clock(&ProcessClock)
    }

    /// [`rejection_probability`](Self::rejection_probability) with a clock.
    pub fn rejection_probability_with_clock(&self, clock: &impl Clock) -> f64 {
        match &self.kind {
            Kind::Adaptive(adaptive) => adaptive.rejection_probability(clock.shared()),
            Kind::Cubic(_) | Kind::Rate(_) => 0.0,
        }
    }

    /// Returns the calls a second that `cubic` or `rate` lets pass; `None` while `cubic` has no limit, and of
    /// `adaptive`.
    pub fn fill_rate(&self) -> Option<f64> {
        match &self.kind {
            Kind::Adaptive(_) => None,
            Kind::Cubic(cubic) => cubic.fill_rate(),
            Kind::Rate(rate) => Some(rate.per_second()),
        }
    }

    /// Returns the calls a second that `cubic` has seen end, smoothed, as of the last of them;
    /// `None` of the others.
    pub fn measured_rate(&self) -> Option<f64> {
        match &self.kind {
            Kind::Adaptive(_) | Kind::Rate(_) => None,
            Kind::Cubic(cubic) => Some(cubic.measured_rate()),
        }
    }

    /// Forgets everything, as new; the settings stay.
    ///
    /// Calls that wait may begin when they look again, and those that are under way count for what
    /// begins now; `rate` forgets them.
    pub fn reset(&self) {
        match &self.kind {
            Kind::Adaptive(adaptive) => adaptive.reset(),
            Kind::Cubic(cubic) => cubic.reset(),
            Kind::Rate(rate) => rate.reset(),
        }
    }

    /// Whether a throttle that is made anew would let calls through which this one refuses, or makes wait.
    #[cfg(feature = "keyed")]
    pub(crate) fn limits_calls(&self) -> bool {
        match &self.kind {
            Kind::Adaptive(_) => self.rejection_probability() > 0.0,
            Kind::Cubic(cubic) => cubic.fill_rate().is_some(),
            Kind::Rate(rate) => rate.limits_calls(ProcessClock.shared()),
        }
    }
}

impl fmt::Debug for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Throttle");
        match &self.kind {
            Kind::Adaptive(_) => shown.field("rejection", &self.rejection_probability()),
            Kind::Cubic(_) | Kind::Rate(_) => shown.field("fill_rate", &self.fill_rate()),
        };
        shown.finish_non_exhaustive()
    }
}

/// Returns how long a call waits that asks here: one of a low priority for half of it.
fn longest(max_wait: Duration) -> Duration {
    if around::is_low() {
        max_wait.checked_div(2).unwrap_or_default()
    } else {
        max_wait
    }
}

/// From the clock's origin.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a moment is 64 bits of nanoseconds"
)]
fn nanos(moment: Timestamp) -> u64 {
    moment
        .since(Timestamp::from_origin(Duration::ZERO))
        .as_nanos() as u64
}
