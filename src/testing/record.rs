//! The record of the calls that a thread has retried.

use core::fmt;
use core::time::Duration;
use std::cell::RefCell;
use std::rc::Rc;

use retry_runtime::slots::{CallEvent, set_recorder};

use super::attempts::RecordedCall;
use super::diff;

#[derive(Debug)]
struct Noted {
    /// The same as [`CallEvent::call`].
    call: usize,
    recorded: RecordedCall,
}

type Log = Rc<RefCell<Vec<Noted>>>;

thread_local! {
    static LOGS: RefCell<Vec<Log>> = const { RefCell::new(Vec::new()) };
}

/// Adds an event to every record of this thread.
fn note(event: CallEvent) {
    // No code of the user runs while one is borrowed. A thread that has ended has no records.
    let _ended = LOGS.try_with(|logs| {
        for log in logs.try_borrow().iter().flat_map(|logs| &**logs) {
            if let Ok(mut log) = log.try_borrow_mut() {
                add(&mut log, &event);
            }
        }
    });
}

fn add(log: &mut Vec<Noted>, event: &CallEvent) {
    let goes_on =
        |noted: &&mut Noted| noted.call == event.call && noted.recorded.goes_on_with(event);
    if let Some(noted) = log.iter_mut().rev().find(goes_on) {
        return noted.recorded.add(event);
    }
    // The success of a call that failed before the record began.
    if event.operation.is_empty() {
        return;
    }
    let mut recorded = RecordedCall::new(event.operation);
    recorded.add(event);
    log.push(Noted {
        call: event.call,
        recorded,
    });
}

/// Records the calls that are retried on this thread, until the guard is dropped.
///
/// A call that succeeds at once leaves no trace. Records nest: each has every event since it was
/// made. The record has tasks that run on this thread, as they do in `#[tokio::test]`.
///
/// # Examples
///
/// ```
/// use reattempt::{Policy, testing};
/// use std::time::Duration;
///
/// let _time = testing::virtual_time();
/// let record = testing::record();
///
/// let faults = testing::FaultPlan::script("fail, ok", || "busy");
/// let policy = Policy::new().jitter(reattempt::Jitter::None);
/// let answer = policy.on(|_: &&str| true).name("shop::fetch").run(|| faults.check());
///
/// assert_eq!(answer, Ok(()));
/// record.assert("
///     shop::fetch
///       1. failed (transient), retry in 100ms
///       2. succeeded
/// ");
/// ```
pub fn record() -> Record {
    set_recorder(note);
    let log = Log::default();
    // A thread that has ended records nothing.
    let _ended = LOGS.try_with(|logs| {
        if let Ok(mut logs) = logs.try_borrow_mut() {
            logs.push(Rc::clone(&log));
        }
    });
    Record { log }
}

/// Records the calls that are retried on this thread until it is dropped. [`record`] makes it.
///
/// Its `Display` writes the text that [`assert`](Self::assert) compares.
#[must_use = "nothing is recorded after this is dropped; bind it: `let _record = ...`, for `let _ =` drops it at once"]
#[derive(Debug)]
pub struct Record {
    log: Log,
}

impl Record {
    /// Returns the calls, in the order in which their first attempts ended.
    ///
    /// The record has a call from the moment its first attempt has ended. A call inside an attempt
    /// of another call comes before that call.
    pub fn calls(&self) -> Vec<RecordedCall> {
        let log = self.log.try_borrow();
        let noted = log.iter().flat_map(|log| &**log);
        noted.map(|noted| noted.recorded.clone()).collect()
    }

    /// Returns the delays of all calls, one call after the other.
    pub fn schedule(&self) -> Vec<Duration> {
        self.calls().iter().flat_map(RecordedCall::delays).collect()
    }

    /// Compares the text of the record with `expected`, line by line.
    ///
    /// It ignores blank lines, blanks at the end of lines and the indentation that all lines of
    /// `expected` have.
    ///
    /// # Panics
    ///
    /// Panics with the difference, if there is one.
    #[track_caller]
    #[expect(clippy::panic, reason = "documented: the test asks for it")]
    pub fn assert(&self, expected: &str) {
        if let Some(difference) = diff::lines(expected, &self.to_string()) {
            panic!(
                "the record is not what was expected (- expected, + recorded):\n\n{difference}\n\
                 if the record is right, the lines without `-` are the new text; `println!(\"{{record}}\")` prints it"
            );
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // The records of a thread end with the thread.
        let _ended = LOGS.try_with(|logs| {
            if let Ok(mut logs) = logs.try_borrow_mut() {
                logs.retain(|log| !Rc::ptr_eq(log, &self.log));
            }
        });
    }
}

/// Writes one call after another, in the order of [`calls`](Self::calls).
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.calls().iter().try_for_each(|call| call.fmt(f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{AttemptEnd, CallEnd};
    use reattempt_core::{GiveUpReason, Verdict};
    use retry_runtime::slots::{AttemptResult, CallStep, Ending};

    const MS: Duration = Duration::from_millis(1);
    const TRANSIENT: AttemptResult = AttemptResult::Failed(Verdict::Transient);

    fn happens(call: usize, operation: &'static str, attempt: u32, step: CallStep) {
        note(CallEvent {
            call,
            operation,
            before: attempt.saturating_sub(1),
            attempt,
            step,
        });
    }

    #[test]
    fn a_call_from_its_first_failure_to_its_end() {
        let record = record();
        happens(1, "shop::fetch", 1, CallStep::Retry(TRANSIENT, 100 * MS));
        happens(
            1,
            "shop::fetch",
            2,
            CallStep::Retry(AttemptResult::TimedOut, 200 * MS),
        );
        happens(1, "", 3, CallStep::Succeeded);
        let text = "\
shop::fetch
  1. failed (transient), retry in 100ms
  2. timed out, retry in 200ms
  3. succeeded
";
        assert_eq!(record.to_string(), text);
        assert_eq!(record.schedule(), [100 * MS, 200 * MS]);
        let calls = record.calls();
        assert_eq!(calls[0].operation(), "shop::fetch");
        assert_eq!(calls[0].end(), CallEnd::Succeeded);
        assert_eq!(calls[0].attempts()[1].end(), AttemptEnd::TimedOut);
        assert_eq!(calls[0].attempts()[1].delay(), Some(200 * MS));
    }

    #[test]
    fn calls_that_run_at_the_same_time() {
        let record = record();
        happens(1, "a", 1, CallStep::Retry(TRANSIENT, Duration::ZERO));
        happens(
            2,
            "a",
            1,
            CallStep::Retry(AttemptResult::NotFinal, 400_000 * MS),
        );
        happens(
            1,
            "b",
            1,
            CallStep::GaveUp(Ending::Attempt(TRANSIENT), GiveUpReason::Nested),
        );
        happens(
            1,
            "a",
            2,
            CallStep::GaveUp(Ending::Attempt(TRANSIENT), GiveUpReason::Attempts),
        );
        happens(
            2,
            "a",
            2,
            CallStep::GaveUp(
                Ending::Attempt(AttemptResult::CutOff),
                GiveUpReason::Deadline,
            ),
        );
        // The place is used again.
        happens(
            1,
            "a",
            1,
            CallStep::Retry(TRANSIENT, Duration::from_nanos(1_234_567_891)),
        );
        record.assert(
            "
            a
              1. failed (transient), retry at once
              2. failed (transient), gave up (attempts)
            a
              1. not final, retry in 6m 40s
              2. cut off, gave up (deadline)
            b
              1. failed (transient), gave up (nested)
            a
              1. failed (transient), retry in 1.234567891s
              did not end
            ",
        );
    }

    #[test]
    fn calls_without_their_beginning_or_end() {
        let record = record();
        let asked = Verdict::Throttled(Some(2000 * MS));
        happens(1, "dropped", 1, CallStep::Retry(TRANSIENT, MS));
        happens(
            1,
            "dropped",
            1,
            CallStep::Retry(AttemptResult::Failed(asked), MS),
        );
        happens(2, "joined", 3, CallStep::Retry(TRANSIENT, MS));
        happens(2, "joined", 5, CallStep::Retry(TRANSIENT, MS));
        happens(2, "", 6, CallStep::Succeeded);
        happens(7, "", 2, CallStep::Succeeded);
        // Over before the next attempt, and before the first.
        happens(3, "over", 1, CallStep::Retry(TRANSIENT, MS));
        happens(
            3,
            "over",
            1,
            CallStep::GaveUp(Ending::BetweenAttempts, GiveUpReason::Deadline),
        );
        happens(
            4,
            "late",
            0,
            CallStep::GaveUp(Ending::BetweenAttempts, GiveUpReason::Deadline),
        );
        record.assert(
            "
            dropped
              1. failed (transient), retry in 1ms
              did not end
            dropped
              1. failed (throttled, asks for 2s), retry in 1ms
              did not end
            joined
              3. failed (transient), retry in 1ms
              did not end
            joined
              5. failed (transient), retry in 1ms
              6. succeeded
            over
              1. failed (transient), retry in 1ms
              gave up (deadline)
            late
              gave up (deadline)
            ",
        );
    }

    #[test]
    fn nested_records_see_what_happens_while_they_last() {
        let gives_up = CallStep::GaveUp(Ending::Attempt(TRANSIENT), GiveUpReason::Attempts);
        let outer = record();
        happens(1, "a", 1, gives_up);
        let inner = record();
        happens(1, "b", 1, gives_up);
        assert_eq!((outer.calls().len(), inner.calls().len()), (2, 1));
        drop(outer);
        happens(1, "c", 1, gives_up);
        inner.assert(
            "
            b
              1. failed (transient), gave up (attempts)
            c
              1. failed (transient), gave up (attempts)
            ",
        );
        drop(inner);
        happens(1, "d", 1, gives_up);
        record().assert("");
    }
}
