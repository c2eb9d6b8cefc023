//! The settings of a throttle. `rules` says what is wrong with a value.

use core::time::Duration;

use super::{Kind, Throttle, rules};
use reattempt_policy::RuleId;
use reattempt_policy::Text;

impl Throttle {
    /// Sets how many calls [`adaptive`](Self::adaptive) makes for each that the service accepts.
    ///
    /// # Units and ranges
    ///
    /// Finite, at least 1: the service then gets no more than it accepts, and hardly gets to show that
    /// it is better. The larger, the later and the less is refused.
    ///
    /// # Default
    ///
    /// 2.
    ///
    /// # Panics
    ///
    /// Outside this range, and on another kind; in a `static` that is an error of the compiler.
    #[must_use = "a throttle does nothing unless calls ask it for a permit"]
    #[track_caller]
    pub const fn factor(mut self, factor: f64) -> Self {
        refuse(rules::factor(factor).as_ref());
        if let Kind::Adaptive(adaptive) = &mut self.kind {
            adaptive.factor = factor;
        } else {
            refuse(Some(&rules::only_adaptive("factor")));
        }
        self
    }

    /// Sets how long [`adaptive`](Self::adaptive) remembers a call.
    ///
    /// # Units and ranges
    ///
    /// 1 s to 24 h. It is counted in 16 parts, so a call is forgotten when between 15 and 16 of them
    /// are over.
    ///
    /// # Default
    ///
    /// Two minutes.
    ///
    /// # Panics
    ///
    /// Outside this range, and on another kind; in a `static` that is an error of the compiler.
    #[must_use = "a throttle does nothing unless calls ask it for a permit"]
    #[track_caller]
    pub const fn window(mut self, window: Duration) -> Self {
        refuse(rules::window(window).as_ref());
        if let Kind::Adaptive(adaptive) = &mut self.kind {
            adaptive.set_window(window);
        } else {
            refuse(Some(&rules::only_adaptive("window")));
        }
        self
    }

    /// Sets the largest share of the calls that [`adaptive`](Self::adaptive) turns away.
    ///
    /// What passes can show that the service is back: after an outage of 5 minutes less than half of the calls are
    /// turned away from about 110 s on, and none after 165 s, be it one call a second or a thousand.
    /// Without a ceiling it is the later the more calls there are: none are turned away after 8.5 minutes of 10 a
    /// second, 11 of 100, 14 of 1000. The price is a fifth of the calls, for a service that accepts none.
    ///
    /// # Units and ranges
    ///
    /// Above 0.0, at most 1.0: no ceiling.
    ///
    /// # Default
    ///
    /// 0.8, as in [Envoy](https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/admission_control_filter);
    /// the book has none.
    ///
    /// # Panics
    ///
    /// Outside this range, and on another kind; in a `static` that is an error of the compiler.
    #[must_use = "a throttle does nothing unless calls ask it for a permit"]
    #[track_caller]
    pub const fn ceiling(mut self, ceiling: f64) -> Self {
        refuse(rules::ceiling(ceiling).as_ref());
        if let Kind::Adaptive(adaptive) = &mut self.kind {
            adaptive.ceiling = ceiling;
        } else {
            refuse(Some(&rules::only_adaptive("ceiling")));
        }
        self
    }

    /// Sets how many requests [`adaptive`](Self::adaptive) has to see in its window before it turns
    /// any away.
    ///
    /// So a client that makes few calls does not lose its retry by one failure, which would be one half
    /// of what it knows.
    ///
    /// # Units and ranges
    ///
    /// At least 1: from the second request on.
    ///
    /// # Default
    ///
    /// 10.
    ///
    /// # Panics
    ///
    /// Outside this range, and on another kind; in a `static` that is an error of the compiler.
    #[must_use = "a throttle does nothing unless calls ask it for a permit"]
    #[track_caller]
    pub const fn min_requests(mut self, requests: u32) -> Self {
        refuse(rules::min_requests(requests).as_ref());
        if let Kind::Adaptive(adaptive) = &mut self.kind {
            adaptive.minimum = requests as u64;
        } else {
            refuse(Some(&rules::only_adaptive("min_requests")));
        }
        self
    }

    /// Sets how long a call waits for its turn at [`cubic`](Self::cubic) or [`rate`](Self::rate) before it is refused.
    ///
    /// A call with a deadline ends sooner where its turn is expected after that. A throttle without
    /// such a bound would keep all calls that come meanwhile, as long as more of them come than the
    /// service takes.
    ///
    /// # Units and ranges
    ///
    /// With `cubic` 500 ms to 24 h: a call looks at least every 500 ms, and is refused so much later at most. With `rate`
    /// 0 to 24 h: a call that would probably wait longer is refused at once, and with 0 every call that would wait.
    ///
    /// # Default
    ///
    /// One minute.
    ///
    /// # Panics
    ///
    /// Outside this range, and on `adaptive`; in a `static` that is an error of the compiler.
    #[must_use = "a throttle does nothing unless calls ask it for a permit"]
    #[track_caller]
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        match &mut self.kind {
            Kind::Adaptive(_) => refuse(Some(&rules::not_adaptive("max_wait"))),
            Kind::Cubic(cubic) => {
                refuse(rules::max_wait(max_wait, Duration::from_millis(500)).as_ref());
                cubic.max_wait = max_wait;
            }
            Kind::Rate(rate) => {
                refuse(rules::max_wait(max_wait, Duration::ZERO).as_ref());
                rate.max_wait = max_wait;
            }
        }
        self
    }
}

#[track_caller]
pub(super) const fn refuse(broken: Option<&Text>) {
    if let Some(text) = broken {
        RuleId::R10.refuse(text.as_str());
    }
}
