//! Which statuses are worth another attempt.

use core::fmt;

use http::{HeaderMap, StatusCode};

use super::HasStatus;
use super::retry_after::judged;
use crate::verdict::{Classify, Verdict};

/// A table of statuses: the verdict on each.
///
/// [`STANDARD`](Self::STANDARD) is what everything here starts from; a `const` of your own changes it
/// for one policy or one operation:
///
/// ```
/// use reattempt::Verdict;
/// use reattempt::http::Statuses;
///
/// /// A search that is read only, behind a gateway that answers 404 while it starts.
/// const SEARCH: Statuses = Statuses::STANDARD.transient(404).permanent(500);
///
/// assert_eq!(SEARCH.of(404), Verdict::Transient);
/// assert_eq!(SEARCH.of(500), Verdict::Permanent);
/// ```
///
/// In a policy: `on = |error| SEARCH.judge(error)`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[must_use = "a table is not changed in place"]
pub struct Statuses {
    /// Two bits a status.
    kinds: [u64; WORDS],
}

const PER_WORD: u16 = 32;
const WORDS: usize = 32;
const LEAST: u16 = 100;
const MOST: u16 = 999;

#[derive(Debug, Clone, Copy)]
enum Kind {
    Permanent = 0,
    Transient = 1,
    Refused = 2,
    Throttled = 3,
}

impl Statuses {
    /// A table in which every status is final.
    pub const NONE: Self = Self { kinds: [0; WORDS] };

    /// The statuses that are worth another attempt; every other one is final.
    ///
    /// | status | verdict | was it executed? |
    /// |---|---|---|
    /// | 408 Request Timeout | transient | not, says the standard; but gateways answer so, too, when what is behind them took too long |
    /// | 425 Too Early | refused | no: the server would not risk a replayed request |
    /// | 429 Too Many Requests | throttled | no: it was turned away |
    /// | 500 Internal Server Error | transient | perhaps |
    /// | 502 Bad Gateway | transient | perhaps: the gateway lost the answer, or never came through |
    /// | 503 Service Unavailable | transient | most often not; but gateways answer so, too, when a connection broke after the request was sent |
    /// | 504 Gateway Timeout | transient | perhaps: nobody waited for the answer |
    ///
    /// "Perhaps" means that an operation with `idempotent = false` is not retried, unless `verify` finds out.
    /// What the service asks for with `Retry-After` comes with the verdict.
    pub const STANDARD: Self = Self::NONE
        .transient(408)
        .refused(425)
        .throttled(429)
        .transient(500)
        .transient(502)
        .transient(503)
        .transient(504);

    /// Returns this table with `status` as worth another attempt; the request may have run.
    ///
    /// # Panics
    ///
    /// As all four: when `status` is not in 100..=999; for a constant that is when it compiles.
    #[track_caller]
    pub const fn transient(self, status: u16) -> Self {
        self.with(status, Kind::Transient)
    }

    /// Returns this table with `status` as worth another attempt; the request certainly did not
    /// run.
    ///
    /// # Panics
    ///
    /// When `status` is not in 100..=999.
    #[track_caller]
    pub const fn refused(self, status: u16) -> Self {
        self.with(status, Kind::Refused)
    }

    /// Returns this table with `status` as a sign that the service is overloaded and turned the
    /// request away.
    ///
    /// # Panics
    ///
    /// When `status` is not in 100..=999.
    #[track_caller]
    pub const fn throttled(self, status: u16) -> Self {
        self.with(status, Kind::Throttled)
    }

    /// Returns this table with `status` as final.
    ///
    /// # Panics
    ///
    /// When `status` is not in 100..=999.
    #[track_caller]
    pub const fn permanent(self, status: u16) -> Self {
        self.with(status, Kind::Permanent)
    }

    #[track_caller]
    #[expect(
        clippy::indexing_slicing,
        reason = "1000 statuses have room, and this is one"
    )]
    const fn with(mut self, status: u16, kind: Kind) -> Self {
        assert!(
            LEAST <= status && status <= MOST,
            "a status has three digits; give one from 100 to 999, such as 503"
        );
        let (word, shift) = place(status);
        self.kinds[word] = self.kinds[word] & !(0b11 << shift) | (kind as u64) << shift;
        self
    }

    /// Returns the verdict on a status alone. Outside of 100..=999 everything is final.
    #[expect(
        clippy::indexing_slicing,
        reason = "1000 statuses have room, and this is one"
    )]
    pub const fn of(&self, status: u16) -> Verdict {
        if status < LEAST || status > MOST {
            return Verdict::Permanent;
        }
        let (word, shift) = place(status);
        match self.kinds[word] >> shift & 0b11 {
            0 => Verdict::Permanent,
            1 => Verdict::Transient,
            2 => Verdict::Refused,
            _ => Verdict::Throttled(None),
        }
    }

    /// Returns the verdict on a response: its status, and what its headers say.
    ///
    /// * The delay is that of [`Retry-After`](super::retry_after) and its dialects. A negative time forbids another attempt.
    /// * After a status of throttling without one, the delay is that until a quota which is used up is full again
    ///   (`RateLimit`, `x-ratelimit-reset` and others).
    /// * 403 with such a delay, and `x-ratelimit-remaining: 0` or `Retry-After`, is throttling as well: GitHub says so.
    /// * `x-should-retry: false` forbids another attempt; `true` makes a final status from 400 on transient.
    pub fn verdict(&self, status: StatusCode, headers: &HeaderMap) -> Verdict {
        judged(self.of(status.as_u16()), status.as_u16(), headers)
    }

    /// Returns the verdict on an error by this table where it has a status, else by its own
    /// [`Classify`].
    pub fn judge<E: HasStatus + Classify + ?Sized>(&self, error: &E) -> Verdict {
        self.verdict_on(error).unwrap_or_else(|| error.classify())
    }

    /// Returns the verdict on a response that is worth another attempt, or forbids one; `None` for every other response, which
    /// is the answer.
    pub fn retried(&self, response: &impl HasStatus) -> Option<Verdict> {
        self.verdict_on(response)
            .filter(|verdict| *verdict != Verdict::Permanent)
    }

    pub(super) fn verdict_on(&self, answer: &(impl HasStatus + ?Sized)) -> Option<Verdict> {
        let status = answer.status()?;
        Some(match answer.headers() {
            Some(headers) => self.verdict(status, headers),
            None => self.of(status.as_u16()),
        })
    }
}

const fn place(status: u16) -> (usize, u32) {
    let bit = (status % PER_WORD).saturating_mul(2);
    ((status / PER_WORD) as usize, bit as u32)
}

impl Default for Statuses {
    fn default() -> Self {
        Self::STANDARD
    }
}

/// Those that are not final.
impl fmt::Debug for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = (LEAST..=MOST).map(|status| (status, self.of(status)));
        f.debug_map()
            .entries(all.filter(|(_, verdict)| verdict.is_retryable()))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_candidates_are_seven() {
        let table = [
            (408, Verdict::Transient),
            (425, Verdict::Refused),
            (429, Verdict::Throttled(None)),
            (500, Verdict::Transient),
            (502, Verdict::Transient),
            (503, Verdict::Transient),
            (504, Verdict::Transient),
        ];
        for status in 0..=u16::MAX {
            let expected = table.iter().find(|(candidate, _)| *candidate == status);
            let expected = expected.map_or(Verdict::Permanent, |(_, verdict)| *verdict);
            assert_eq!(Statuses::STANDARD.of(status), expected, "{status}");
        }
        assert_eq!(Statuses::default(), Statuses::STANDARD);
    }

    #[test]
    fn a_change_touches_one_status() {
        for status in LEAST..=MOST {
            let changed = Statuses::STANDARD.throttled(status);
            for other in LEAST..=MOST {
                let expected = if other == status {
                    Verdict::Throttled(None)
                } else {
                    Statuses::STANDARD.of(other)
                };
                assert_eq!(changed.of(other), expected, "{status} {other}");
            }
        }
        let none = Statuses::STANDARD.permanent(503).of(503);
        assert_eq!(none, Verdict::Permanent);
    }

    #[test]
    fn one_that_is_no_status_panics() {
        for (status, is_one) in [
            (0, false),
            (99, false),
            (100, true),
            (999, true),
            (1000, false),
            (u16::MAX, false),
        ] {
            let made = std::panic::catch_unwind(|| Statuses::NONE.transient(status));
            assert_eq!(made.is_ok(), is_one, "{status}");
            assert_eq!(Statuses::NONE.of(status), Verdict::Permanent);
        }
    }

    /// Of an error with or without a status.
    struct Answer(Option<u16>, HeaderMap);

    impl HasStatus for Answer {
        fn status(&self) -> Option<StatusCode> {
            self.0.and_then(|status| StatusCode::from_u16(status).ok())
        }

        fn headers(&self) -> Option<&HeaderMap> {
            (!self.1.is_empty()).then_some(&self.1)
        }
    }

    impl Classify for Answer {
        fn classify(&self) -> Verdict {
            Verdict::Refused
        }
    }

    #[test]
    fn a_table_judges_what_has_a_status() {
        let delayed = HeaderMap::from_iter([(http::header::RETRY_AFTER, 7.into())]);
        let seven = Verdict::TransientAfter(core::time::Duration::from_secs(7));
        for (answer, judged, retried) in [
            (
                Answer(Some(503), HeaderMap::new()),
                Verdict::Transient,
                Some(Verdict::Transient),
            ),
            (Answer(Some(503), delayed.clone()), seven, Some(seven)),
            (Answer(Some(404), delayed), Verdict::Permanent, None),
            (Answer(None, HeaderMap::new()), Verdict::Refused, None),
        ] {
            assert_eq!(Statuses::STANDARD.judge(&answer), judged);
            assert_eq!(Statuses::STANDARD.retried(&answer), retried);
        }
    }

    #[test]
    fn debug_tells_what_is_retried() {
        let shown = format!("{:?}", Statuses::NONE.refused(425));
        assert_eq!(shown, "{425: Refused}");
    }
}
