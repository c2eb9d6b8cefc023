//! What observers receive: one event for each thing that happens to a call.

use core::error::Error;
use core::fmt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reattempt_core::platform::system_time;
use reattempt_core::{GiveUpReason, RetryCause};
use reattempt_policy::{Consequence, Violation};

use crate::breaker::Change;
use crate::said::said;
use reattempt_policy::Telemetry;

/// An event of a call, a breaker or the configuration.
///
/// Calls that succeed on the first attempt emit no events.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// An attempt failed; the next event says what follows.
    AttemptFailed(&'a CallInfo<'a>),
    /// Another attempt follows after this delay.
    Retry(&'a CallInfo<'a>, Duration),
    /// The call ended without success.
    GaveUp(&'a CallInfo<'a>, GiveUpReason),
    /// The call succeeded after a retry.
    Recovered(&'a CallInfo<'a>),
    /// The call was dropped after a failure, while it waited or ran the next attempt: a time-out above it ended it, or
    /// nobody wants its answer any more. The attempt is the last one that failed. A call that a panic ends is not reported.
    Dropped(&'a CallInfo<'a>),
    /// The key `hedge` has started a copy of the attempt that runs; the number is that of the copy,
    /// from 1.
    CopyStarted(&'a CallInfo<'a>, u32),
    /// An attempt with copies has its answer: that of the attempt itself (0), or of the copy with
    /// this number. Not reported where all of them failed, or the attempt was cut off.
    HedgeWon(&'a CallInfo<'a>, u32),
    /// A breaker changed its state.
    BreakerChanged(&'a Change),
    /// An operation with `cut_off = false` has a policy with a `timeout`, which is not applied. Reported once for each place in
    /// the code; holds the name of the operation.
    TimeoutIgnored(&'static str),
    /// A policy that the running program has made breaks a rule. It is reported once for each operation, when a call has
    /// failed under it.
    InvalidPolicy {
        /// The name of the operation.
        operation: &'static str,
        /// The rule, with the numbers of the policy and a fix.
        violation: &'a Violation,
        /// What follows for its calls.
        consequence: Consequence,
    },
    /// Other policies hold from now on.
    Reloaded {
        /// The file that they come from.
        from: Option<&'a Path>,
    },
    /// A configuration was refused, and the previous one stays; or it conflicts with the keys in
    /// the code of an operation that has just run for the first time, and those keys stay. The
    /// error is a `config::ConfigError`.
    ReloadRefused(&'a (dyn Error + 'static)),
    /// Retries were switched off, or on again, by the kill switch or by the configuration.
    RetriesSwitched {
        /// Whether they are on now.
        on: bool,
    },
}

impl<'a> Event<'a> {
    /// Returns the name of the event: `attempt_failed`, `retry`, `gave_up`, `recovered`,
    /// `dropped`, `copy_started`, `hedge_won`, `breaker_changed`, `timeout_ignored`, `invalid_policy`,
    /// `reloaded`, `reload_refused`, `retries_switched`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::AttemptFailed(_) => "attempt_failed",
            Self::Retry(..) => "retry",
            Self::GaveUp(..) => "gave_up",
            Self::Recovered(_) => "recovered",
            Self::Dropped(_) => "dropped",
            Self::CopyStarted(..) => "copy_started",
            Self::HedgeWon(..) => "hedge_won",
            Self::BreakerChanged(_) => "breaker_changed",
            Self::TimeoutIgnored(_) => "timeout_ignored",
            Self::InvalidPolicy { .. } => "invalid_policy",
            Self::Reloaded { .. } => "reloaded",
            Self::ReloadRefused(_) => "reload_refused",
            Self::RetriesSwitched { .. } => "retries_switched",
        }
    }

    /// Returns the call of the event, and its last attempt; `None` for an event without a call.
    pub const fn facts(&self) -> Option<&'a CallInfo<'a>> {
        match *self {
            Self::AttemptFailed(facts)
            | Self::Retry(facts, _)
            | Self::GaveUp(facts, _)
            | Self::CopyStarted(facts, _)
            | Self::HedgeWon(facts, _)
            | Self::Recovered(facts)
            | Self::Dropped(facts) => Some(facts),
            Self::BreakerChanged(_)
            | Self::TimeoutIgnored(_)
            | Self::InvalidPolicy { .. }
            | Self::Reloaded { .. }
            | Self::ReloadRefused(_)
            | Self::RetriesSwitched { .. } => None,
        }
    }
}

/// A call and its last attempt, as far as they are known.
#[derive(Debug, Clone)]
pub struct CallInfo<'a> {
    #[doc(hidden)]
    pub operation: &'static str,
    #[doc(hidden)]
    pub policy: &'static str,
    #[doc(hidden)]
    pub request_id: Option<&'a str>,
    #[doc(hidden)]
    pub attempt: u32,
    #[doc(hidden)]
    pub max: Option<u32>,
    #[doc(hidden)]
    pub ended_at: SystemTime,
    #[doc(hidden)]
    pub elapsed: Option<Duration>,
    #[doc(hidden)]
    pub call_elapsed: Option<Duration>,
    #[doc(hidden)]
    pub cause: Option<RetryCause>,
    #[doc(hidden)]
    pub error: Option<&'a ErrorText>,
    #[doc(hidden)]
    pub budget_balance: Option<f64>,
    #[doc(hidden)]
    pub telemetry: Telemetry,
}

/// What an error says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(hidden)]
pub struct ErrorText {
    #[doc(hidden)]
    pub kind: &'static str,
    #[doc(hidden)]
    pub message: Option<String>,
    /// The cause, where a code of the error names it.
    #[doc(hidden)]
    pub cause: Option<RetryCause>,
    /// What was called: the key `detail`.
    #[doc(hidden)]
    pub detail: Option<String>,
}

impl ErrorText {
    /// Returns the name of the error's type, and what it says.
    pub fn new<E: ?Sized>(_: &E, message: Option<String>) -> Self {
        Self {
            kind: kind_of::<E>(),
            message,
            cause: None,
            detail: None,
        }
    }

    /// Returns the same where its message is asked for as a trait object: in the alternate form, which is the whole chain
    /// for `anyhow` and `eyre`.
    pub fn message<E: ?Sized>(error: &E, message: Option<&dyn fmt::Display>) -> Self {
        Self::new(error, message.map(|text| said(&format_args!("{text:#}"))))
    }

    /// Returns what an answer says that is a result itself.
    pub fn of_answer<R, E>(
        answer: &Result<R, E>,
        message: impl FnOnce() -> Option<String>,
    ) -> Self {
        let kind = match answer {
            Ok(_) => "bad_status",
            Err(_) => kind_of::<E>(),
        };
        Self {
            kind,
            message: message(),
            cause: None,
            detail: None,
        }
    }

    /// Returns the same, of a call of what `detail` names, with an error of these codes.
    #[must_use]
    pub fn about(self, detail: Option<String>, has_code: impl Fn(&str) -> bool) -> Self {
        Self {
            cause: RetryCause::by_code(has_code),
            detail,
            ..self
        }
    }

    /// Returns the text of an attempt that timed out.
    pub fn timed_out() -> Self {
        Self::without_error("timeout", "the attempt timed out")
    }

    /// Returns the text of a value that `until` does not accept.
    pub fn not_final() -> Self {
        Self::without_error("not_final", "the value is not final yet")
    }

    /// Returns the text of an attempt that the deadline ended.
    pub fn cut_off() -> Self {
        Self::without_error("deadline", "the deadline cut the attempt off")
    }

    fn without_error(kind: &'static str, message: &str) -> Self {
        Self {
            kind,
            message: Some(message.to_owned()),
            cause: None,
            detail: None,
        }
    }
}

/// Returns the type as the compiler names it; one of ours by its name alone, whatever crate it is made in.
fn kind_of<E: ?Sized>() -> &'static str {
    let path = core::any::type_name::<E>();
    match path.strip_prefix("reattempt_core::") {
        Some(ours) if !ours.contains('<') => ours.rsplit("::").next().unwrap_or(ours),
        _ => path,
    }
}

impl<'a> CallInfo<'a> {
    /// Returns the name of the operation: `module::function` unless the key `name` says otherwise.
    pub const fn operation(&self) -> &'static str {
        self.operation
    }

    /// Returns the kind of its policy: the name in the configuration, or the shape of its delays,
    /// such as `exp`.
    pub const fn policy(&self) -> &'static str {
        self.policy
    }

    /// Returns the id of the request that the call is part of ([`request`](super::request)). A call outside of a request
    /// has an id of its own, which all its events share.
    pub const fn request_id(&self) -> Option<&'a str> {
        self.request_id
    }

    /// Returns the number of the last attempt, from 1; 0 if the call was refused before its first.
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns the attempts that the policy allows in total; `None` without a limit.
    pub const fn max(&self) -> Option<u32> {
        self.max
    }

    /// Returns what was called, such as an address: the key `detail`, or that of the runner. Events of failed attempts
    /// have it.
    pub fn detail(&self) -> Option<&str> {
        self.error?.detail.as_deref()
    }

    /// Returns when the last attempt began, by the wall clock; `None` if the call read no clock then: in the first
    /// attempt of a program whose events only `metrics` or `stats` receive, of a policy without `deadline` and without
    /// [`timings`](Telemetry::timings).
    pub fn started_at(&self) -> Option<SystemTime> {
        self.ended_at.checked_sub(self.elapsed?)
    }

    /// When it ended, by the wall clock.
    pub const fn ended_at(&self) -> SystemTime {
        self.ended_at
    }

    /// Returns how long the last attempt took, by the monotonic clock; known if
    /// [`started_at`](Self::started_at) is.
    pub const fn elapsed(&self) -> Option<Duration> {
        self.elapsed
    }

    /// Returns how long the call has taken, attempts and delays together; known if the start of its
    /// first attempt is.
    pub const fn call_elapsed(&self) -> Option<Duration> {
        self.call_elapsed
    }

    /// Returns what the last failed attempt says about the service: why it is retried, or would be if the policy allowed
    /// that. `None` for a final error, for an attempt that the deadline cancelled, and before any has failed.
    pub const fn cause(&self) -> Option<RetryCause> {
        self.cause
    }

    /// Returns the type of the last error, as the compiler names it; `timeout` for an attempt that
    /// timed out and `not_final` for a value that `until` does not accept.
    pub fn error_type(&self) -> Option<&str> {
        self.error.map(|error| error.kind)
    }

    /// Returns the last error in words: its `Display`, or its `Debug` if it has none.
    pub fn error_message(&self) -> Option<&str> {
        self.error?.message.as_deref()
    }

    /// Returns the tokens that are left in the policy's budget; `None` without a budget, or if the
    /// call did not consult it.
    pub const fn budget_balance(&self) -> Option<f64> {
        self.budget_balance
    }

    /// What the policy says about telemetry.
    pub const fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AttemptFailed(facts) => write!(f, "{facts} failed{}", Because(facts)),
            Self::Retry(facts, delay) => {
                write!(f, "{facts} failed{}; retry in {delay:?}", Because(facts))
            }
            Self::GaveUp(facts, reason) => {
                write!(f, "{facts} failed{}; gave up: {reason}", Because(facts))
            }
            Self::Recovered(facts) => write!(f, "{facts} succeeded"),
            Self::Dropped(facts) => {
                write!(f, "{facts} failed{}; the call was dropped", Because(facts))
            }
            Self::CopyStarted(facts, copy) => write!(f, "{facts}: copy {copy} started"),
            Self::HedgeWon(facts, 0) => write!(f, "{facts}: answered before its copies"),
            Self::HedgeWon(facts, copy) => write!(f, "{facts}: copy {copy} answered first"),
            Self::BreakerChanged(change) => {
                write!(f, "breaker {} is {}", change.name(), change.to())
            }
            Self::TimeoutIgnored(operation) => write!(
                f,
                "{operation}: the `timeout` of its policy is not applied, since it has `cut_off = false`"
            ),
            Self::InvalidPolicy {
                operation,
                violation,
                consequence,
            } => write!(
                f,
                "{operation}: the policy breaks a rule, and {consequence}: {violation}"
            ),
            Self::Reloaded { .. } => f.write_str("the configuration was loaded"),
            Self::ReloadRefused(error) => write!(f, "the configuration was refused: {error}"),
            Self::RetriesSwitched { on: true } => f.write_str("retries are on again"),
            Self::RetriesSwitched { on: false } => f.write_str("retries are switched off"),
        }
    }
}

/// `: connection lost`, or the type of the error, if there is one.
struct Because<'a>(&'a CallInfo<'a>);

impl fmt::Display for Because<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.error_message().or(self.0.error_type()) {
            Some(error) => write!(f, ": {error}"),
            None => Ok(()),
        }
    }
}

/// `payments.charge: attempt 2 of 5`.
impl fmt::Display for CallInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: attempt {}", self.operation, self.attempt)?;
        match self.max {
            Some(max) => write!(f, " of {max}"),
            None => Ok(()),
        }
    }
}

/// The time of the calendar. Without one nothing is retried: `reattempt-overload` refuses such a build.
pub(crate) fn now() -> SystemTime {
    system_time().unwrap_or(UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breaker::{Name, State};

    fn info(error: Option<&ErrorText>) -> CallInfo<'_> {
        CallInfo {
            operation: "pay",
            policy: "exp",
            request_id: Some("r-17"),
            attempt: 2,
            max: Some(4),
            ended_at: UNIX_EPOCH + Duration::from_secs(9),
            elapsed: Some(Duration::from_secs(2)),
            call_elapsed: Some(Duration::from_secs(5)),
            cause: Some(RetryCause::Throttled),
            error,
            budget_balance: Some(7.5),
            telemetry: Telemetry::quiet(),
        }
    }

    fn says(event: Event<'_>, is_of_a_call: bool, name: &str, text: &str) {
        assert_eq!((event.name(), &*event.to_string()), (name, text));
        assert_eq!(event.facts().is_some(), is_of_a_call, "{name}");
    }

    #[test]
    fn every_event_of_a_call_has_a_name_and_a_text() {
        let error = ErrorText::new(&7_u8, Some("503".to_owned()));
        let call = &info(Some(&error));
        let second = Duration::from_secs(1);
        let (failed, attempt) = ("pay: attempt 2 of 4 failed: 503", "pay: attempt 2 of 4");
        let bare = &CallInfo {
            max: None,
            ..info(None)
        };
        for (event, name, text) in [
            (
                Event::AttemptFailed(call),
                "attempt_failed",
                failed.to_owned(),
            ),
            (
                Event::AttemptFailed(bare),
                "attempt_failed",
                "pay: attempt 2 failed".to_owned(),
            ),
            (
                Event::Retry(call, second),
                "retry",
                format!("{failed}; retry in 1s"),
            ),
            (
                Event::GaveUp(call, GiveUpReason::Budget),
                "gave_up",
                format!("{failed}; gave up: the retry budget is empty"),
            ),
            (
                Event::Recovered(call),
                "recovered",
                format!("{attempt} succeeded"),
            ),
            (
                Event::Dropped(call),
                "dropped",
                format!("{failed}; the call was dropped"),
            ),
            (
                Event::CopyStarted(call, 1),
                "copy_started",
                format!("{attempt}: copy 1 started"),
            ),
            (
                Event::HedgeWon(call, 0),
                "hedge_won",
                format!("{attempt}: answered before its copies"),
            ),
            (
                Event::HedgeWon(call, 1),
                "hedge_won",
                format!("{attempt}: copy 1 answered first"),
            ),
        ] {
            says(event, true, name, &text);
        }
    }

    #[test]
    fn every_other_event_has_a_name_and_a_text() {
        let change = Change::new(Name::Static("pay"), State::Closed, State::Open, None);
        let violation = reattempt_policy::Text::new().push("never");
        let violation = &violation.breaks(reattempt_policy::RuleId::X1);
        let consequence = Consequence::SingleAttempt;
        let broken = format!("pay: the policy breaks a rule, and {consequence}: {violation}");
        let operation = "pay";
        let invalid = Event::InvalidPolicy {
            operation,
            violation,
            consequence,
        };
        let ignored =
            "pay: the `timeout` of its policy is not applied, since it has `cut_off = false`";
        let refused =
            "the configuration was refused: an error occurred when formatting an argument";
        for (event, name, text) in [
            (
                Event::BreakerChanged(&change),
                "breaker_changed",
                "breaker pay is open",
            ),
            (Event::TimeoutIgnored("pay"), "timeout_ignored", ignored),
            (invalid, "invalid_policy", &*broken),
            (
                Event::Reloaded { from: None },
                "reloaded",
                "the configuration was loaded",
            ),
            (Event::ReloadRefused(&fmt::Error), "reload_refused", refused),
            (
                Event::RetriesSwitched { on: true },
                "retries_switched",
                "retries are on again",
            ),
            (
                Event::RetriesSwitched { on: false },
                "retries_switched",
                "retries are switched off",
            ),
        ] {
            says(event, false, name, text);
        }
    }

    #[test]
    fn a_call_says_what_is_known_of_it() {
        let error = ErrorText::new(&7_u8, Some("503".to_owned()))
            .about(Some("a:1".to_owned()), |code| code == "timeout");
        assert_eq!(error.cause, Some(RetryCause::Timeout));
        let call = info(Some(&error));
        assert_eq!(
            (call.operation(), call.policy(), call.request_id()),
            ("pay", "exp", Some("r-17"))
        );
        assert_eq!(
            (call.attempt(), call.max(), call.detail()),
            (2, Some(4), Some("a:1"))
        );
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!((call.started_at(), call.ended_at()), (Some(at(7)), at(9)));
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(
            (call.elapsed(), call.call_elapsed()),
            (seconds(2), seconds(5))
        );
        assert_eq!(
            (call.cause(), call.budget_balance()),
            (Some(RetryCause::Throttled), Some(7.5))
        );
        assert_eq!(
            (call.error_type(), call.error_message()),
            (Some("u8"), Some("503"))
        );
        assert_eq!(*call.telemetry(), Telemetry::quiet());
        let bare = info(None);
        assert_eq!(
            (bare.detail(), bare.error_type(), bare.error_message()),
            (None, None, None)
        );
    }

    /// One of ours by its name alone.
    #[test]
    fn a_type_is_named_as_the_compiler_does() {
        use reattempt_core::{Absent, GaveUp, RetryError};

        let wrapped = kind_of::<RetryError<GaveUp>>();
        assert_eq!(
            [kind_of::<Absent>(), kind_of::<GaveUp>()],
            ["Absent", "GaveUp"]
        );
        assert_eq!(wrapped, core::any::type_name::<RetryError<GaveUp>>());
        assert_eq!(kind_of::<fmt::Error>(), "core::fmt::Error");
    }

    #[test]
    fn a_text_says_what_kind_of_error_it_is_of() {
        let answer =
            |answer: Result<u8, i8>| ErrorText::of_answer(&answer, || Some("said".to_owned()));
        for (text, kind, message) in [
            (
                ErrorText::timed_out(),
                "timeout",
                Some("the attempt timed out"),
            ),
            (
                ErrorText::not_final(),
                "not_final",
                Some("the value is not final yet"),
            ),
            (
                ErrorText::cut_off(),
                "deadline",
                Some("the deadline cut the attempt off"),
            ),
            (ErrorText::message(&7_u8, Some(&"text")), "u8", Some("text")),
            (ErrorText::message(&7_u8, None), "u8", None),
            (answer(Ok(1)), "bad_status", Some("said")),
            (answer(Err(1)), "i8", Some("said")),
        ] {
            assert_eq!((text.kind, text.message.as_deref()), (kind, message));
            assert_eq!((text.cause, text.detail), (None, None));
        }
        let before = SystemTime::now();
        assert!(now() >= before);
    }
}
