//! Policies of any keys, good and bad.

use core::time::Duration;

use arbitrary::Arbitrary;
use retry_runtime::{Backoff, Jitter, Nested, Policy};

/// A time of any magnitude.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Time {
    Nanos(u32),
    Millis(u16),
    Seconds(u16),
    Any(u64, u32),
}

impl Time {
    pub fn duration(self) -> Duration {
        match self {
            Self::Nanos(nanos) => Duration::from_nanos(nanos.into()),
            Self::Millis(millis) => Duration::from_millis(millis.into()),
            Self::Seconds(seconds) => Duration::from_secs(seconds.into()),
            Self::Any(seconds, nanos) => Duration::new(seconds, nanos % 1_000_000_000),
        }
    }
}

/// The keys that a policy is given.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub struct Keys {
    pub max: Option<Max>,
    pub backoff: Option<Kind>,
    pub base: Option<Time>,
    pub first: Option<Time>,
    pub factor: Option<Factor>,
    pub cap: Option<Time>,
    pub jitter: Option<Spread>,
    pub fast_first: Option<bool>,
    pub deadline: Option<Time>,
    pub timeout: Option<Time>,
    pub max_retry_after: Option<Time>,
    pub idempotent: Option<bool>,
    pub multiply: bool,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Max {
    Few(u8),
    Any(u32),
    Unlimited,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Kind {
    None,
    Fixed,
    Linear,
    Exp,
    Fibonacci,
    ExpAboveFirst,
    Decorrelated,
    Custom,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Factor {
    /// In hundredths above one.
    Usual(u16),
    Any(f64),
}

#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Spread {
    None,
    Full,
    Equal,
    Hundredths(u8),
    Any(f64),
}

impl Keys {
    pub fn policy(self) -> Policy {
        let mut policy = Policy::new();
        if let Some(max) = self.max {
            policy = match max {
                Max::Few(max) => policy.max(max.into()),
                Max::Any(max) => policy.max(max),
                Max::Unlimited => policy.unlimited(),
            };
        }
        if let Some(kind) = self.backoff {
            policy = policy.backoff(kind.shape());
        }
        if let Some(base) = self.base {
            policy = policy.base(base.duration());
        }
        if let Some(first) = self.first {
            policy = policy.first(first.duration());
        }
        if let Some(factor) = self.factor {
            policy = policy.factor(match factor {
                Factor::Usual(hundredths) => 1.0 + f64::from(hundredths) / 100.0,
                Factor::Any(factor) => factor,
            });
        }
        if let Some(cap) = self.cap {
            policy = policy.cap(cap.duration());
        }
        if let Some(jitter) = self.jitter {
            policy = policy.jitter(jitter.jitter());
        }
        if let Some(on) = self.fast_first {
            policy = policy.fast_first(on);
        }
        if let Some(deadline) = self.deadline {
            policy = policy.deadline(deadline.duration());
        }
        if let Some(timeout) = self.timeout {
            // Below that (R8) no attempt starts, and without a delay a call makes all of them in no time.
            policy = policy.timeout(timeout.duration().max(Duration::from_millis(1)));
        }
        if let Some(max_retry_after) = self.max_retry_after {
            policy = policy.max_retry_after(max_retry_after.duration());
        }
        if let Some(idempotent) = self.idempotent {
            policy = policy.idempotent(idempotent);
        }
        if self.multiply {
            policy = policy.nested(Nested::Multiply);
        }
        // Followed as it is written, whatever rules it breaks.
        policy.trusted()
    }

    pub fn cap(self) -> Duration {
        let cap = self.cap.map_or(Duration::from_secs(20), Time::duration);
        // The longest that a float tells from it.
        if cap.as_secs() == u64::MAX {
            Duration::MAX
        } else {
            cap
        }
    }

    pub fn max_retry_after(self) -> Duration {
        self.max_retry_after
            .map_or(Duration::from_secs(60), Time::duration)
    }

    pub fn deadline(self) -> Option<Duration> {
        self.deadline.map(Time::duration)
    }
}

impl Kind {
    fn shape(self) -> Backoff {
        match self {
            Self::None => Backoff::None,
            Self::Fixed => Backoff::Fixed,
            Self::Linear => Backoff::Linear,
            Self::Exp => Backoff::Exp,
            Self::Fibonacci => Backoff::Fibonacci,
            Self::ExpAboveFirst => Backoff::ExpAboveFirst,
            Self::Decorrelated => Backoff::Decorrelated,
            Self::Custom => Backoff::Custom(&wild),
        }
    }
}

impl Spread {
    fn jitter(self) -> Jitter {
        match self {
            Self::None => Jitter::None,
            Self::Full => Jitter::Full,
            Self::Equal => Jitter::Equal,
            Self::Hundredths(hundredths) => Jitter::Ratio(f64::from(hundredths) / 100.0),
            Self::Any(ratio) => Jitter::Ratio(ratio),
        }
    }
}

/// Now nothing, now for ever.
fn wild(retry: u32) -> Duration {
    match retry % 4 {
        0 => Duration::ZERO,
        1 => Duration::MAX,
        _ => Duration::from_millis(retry.into()),
    }
}
