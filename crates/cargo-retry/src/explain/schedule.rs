//! When attempts start when everything fails: the bounds of each delay and of each start, by the functions that the
//! runtime draws delays with.

use reattempt_policy::Values;
use std::time::Duration;

use retry_runtime::{Backoff, Policy};
use serde::{Serialize, Serializer};

/// Attempts that are shown one by one.
const LISTED: usize = 256;

/// All attempts of a call that fails each time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Schedule {
    /// Those that can start, as far as they are listed.
    pub(crate) attempts: Vec<Attempt>,
    /// Those that follow.
    pub(crate) rest: Option<Rest>,
    /// The first of those that `max` promises and the deadline forbids.
    pub(crate) never: Option<u32>,
    #[serde(rename = "deadline_ns", serialize_with = "optional")]
    pub(crate) deadline: Option<Duration>,
    #[serde(rename = "timeout_ns", serialize_with = "optional")]
    pub(crate) timeout: Option<Duration>,
}

/// An attempt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Attempt {
    /// From 1.
    pub(crate) number: u32,
    /// Before it; the first has none.
    pub(crate) delay: Option<Delay>,
    pub(crate) start: Start,
}

/// A delay, if it is waited for to its end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Delay {
    #[serde(rename = "least_ns", serialize_with = "nanos")]
    pub(crate) least: Duration,
    /// Before jitter; `None` where it depends on the one before, or is longer than what the deadline leaves.
    #[serde(rename = "nominal_ns", serialize_with = "optional")]
    pub(crate) nominal: Option<Duration>,
    #[serde(rename = "longest_ns", serialize_with = "nanos")]
    pub(crate) longest: Duration,
}

/// The start of an attempt, counted from that of the call: delays, and the attempts before as far as `timeout` bounds
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Start {
    /// When attempts take no time.
    #[serde(rename = "earliest_ns", serialize_with = "nanos")]
    pub(crate) earliest: Duration,
    /// When attempts take no time and delays are nominal.
    #[serde(rename = "nominal_ns", serialize_with = "optional")]
    pub(crate) nominal: Option<Duration>,
    /// When each attempt takes all of `timeout`, or no time without one.
    #[serde(rename = "latest_ns", serialize_with = "nanos")]
    pub(crate) latest: Duration,
    /// Whether no deadline may be over before.
    pub(crate) is_certain: bool,
}

/// Attempts that are not listed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Rest {
    pub(crate) from: u32,
    /// `None`: without limit.
    pub(crate) to: Option<u32>,
    /// Of all of them.
    #[serde(rename = "least_ns", serialize_with = "nanos")]
    pub(crate) least: Duration,
    #[serde(rename = "longest_ns", serialize_with = "nanos")]
    pub(crate) longest: Duration,
}

impl Schedule {
    pub(crate) fn of(policy: &Policy) -> Self {
        let Values {
            deadline, timeout, ..
        } = *policy.values();
        let is_over = |moment: Duration| deadline.is_some_and(|deadline| moment >= deadline);
        let mut attempts = vec![Attempt {
            number: 1,
            delay: None,
            start: Start {
                earliest: Duration::ZERO,
                nominal: Some(Duration::ZERO),
                latest: Duration::ZERO,
                is_certain: true,
            },
        }];
        let limit = policy.attempts();
        let (mut earliest, mut nominal, mut latest) =
            (Duration::ZERO, Some(Duration::ZERO), Duration::ZERO);
        let (mut rest, mut never) = (None, None);
        for retry in 0_u32.. {
            let number = retry.saturating_add(2);
            let (least, mut longest) = policy.delay_bounds(retry);
            if limit.is_some_and(|last| number > last) {
                break;
            }
            if is_over(earliest.saturating_add(least)) {
                never = limit.map(|_| number);
                break;
            }
            if attempts.len() >= LISTED {
                rest = Some(Rest {
                    from: number,
                    to: limit,
                    least,
                    longest: policy
                        .delay_bounds(limit.map_or(u32::MAX, |last| last.saturating_sub(2)))
                        .1,
                });
                break;
            }
            let left = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_sub(earliest));
            longest = longest.min(left);
            if let (Backoff::Decorrelated, Some(deadline)) = (policy.shape(), deadline)
                && !longest.is_zero()
            {
                let before = attempts.iter().filter_map(|attempt| attempt.delay);
                let drawn = before.filter(|delay| !delay.longest.is_zero()).count();
                longest = grown(least, longest, drawn, deadline);
            }
            let computed = Some(policy.delay(retry))
                .filter(|_| !matches!(policy.shape(), Backoff::Decorrelated) || longest.is_zero());
            earliest = earliest.saturating_add(least);
            latest = latest
                .saturating_add(longest)
                .saturating_add(timeout.unwrap_or_default());
            nominal = add(nominal, computed).filter(|moment| !is_over(*moment));
            attempts.push(Attempt {
                number,
                delay: Some(Delay {
                    least,
                    nominal: computed.filter(|delay| *delay <= longest),
                    longest,
                }),
                start: Start {
                    earliest,
                    nominal,
                    latest: latest.min(deadline.unwrap_or(Duration::MAX)),
                    is_certain: !is_over(latest),
                },
            });
        }
        Self {
            attempts,
            rest,
            never,
            deadline,
            timeout,
        }
    }
}

/// The longest that a decorrelated delay can be before `deadline`: each of those before it is at least a third of the
/// next.
fn grown(least: Duration, longest: Duration, drawn: usize, deadline: Duration) -> Duration {
    let fits = |delay: Duration| {
        let before = std::iter::successors(Some(delay), |next| Some((*next / 3).max(least)));
        let all = before.take(drawn.saturating_add(1));
        all.fold(Duration::ZERO, Duration::saturating_add) < deadline
    };
    if fits(longest) {
        return longest;
    }
    let (mut good, mut bad) = (least, longest);
    while bad.saturating_sub(good) > Duration::from_nanos(1) {
        let middle = good.saturating_add(bad.saturating_sub(good) / 2);
        if fits(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    bad
}

fn add(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    Some(one?.saturating_add(other?))
}

/// As a whole number; what is longer than 584 years is as long as that.
pub(super) fn nanos<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(whole(*duration))
}

#[expect(clippy::ref_option, reason = "as serde calls it")]
pub(super) fn optional<S: Serializer>(
    duration: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    duration.map(whole).serialize(serializer)
}

fn whole(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
