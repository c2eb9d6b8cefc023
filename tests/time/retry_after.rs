//! The delay that the error asks for: the key `retry_after`, and errors that say it
//! themselves. A timer that records, and by which nobody waits.

use std::cell::{Cell, RefCell};
use std::future::{Ready, pending, ready};
use std::time::Duration;

use proptest::prelude::*;
use reattempt::timer::{BlockingTimer, Clock, Timer, Timestamp};
use reattempt::{
    Classify, GiveUpReason, RetryError, Verdict, Verified, deadline, retry, retry_block,
};

use crate::support::{assert_nothing_is_left, drive, ms};

const SECOND: Duration = Duration::from_secs(1);
const ASKED: Duration = Duration::from_secs(5);

/// What fails, and the delay that it asks for in the key's own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Classify)]
enum Fault {
    #[retry(transient)]
    Lost(Option<Duration>),
    #[retry(refused)]
    Refused(Option<Duration>),
    #[retry(permanent)]
    Wrong(Option<Duration>),
    #[retry(forbidden)]
    Stop(Option<Duration>),
    #[retry(transient, after = own)]
    Later {
        own: Duration,
        asked: Option<Duration>,
    },
}

const LOST: Fault = Fault::Lost(Some(ASKED));
const REFUSED: Fault = Fault::Refused(Some(ASKED));

impl Fault {
    const fn asked(&self) -> Option<Duration> {
        match self {
            Self::Lost(asked)
            | Self::Refused(asked)
            | Self::Wrong(asked)
            | Self::Stop(asked)
            | Self::Later { asked, .. } => *asked,
        }
    }
}

/// Answers with these faults one after the other, then with the number of the call.
struct Service<'f> {
    faults: &'f [Fault],
    calls: Cell<u32>,
    questions: Cell<u32>,
}

impl<'f> Service<'f> {
    const fn of(faults: &'f [Fault]) -> Self {
        Self {
            faults,
            calls: Cell::new(0),
            questions: Cell::new(0),
        }
    }

    fn call(&self) -> Result<u32, Fault> {
        let call = self.calls.replace(self.calls.get() + 1);
        match self.faults.get(call as usize) {
            Some(fault) => Err(*fault),
            None => Ok(call + 1),
        }
    }

    /// What the key asks, counted.
    fn asked(&self, fault: &Fault) -> Option<Duration> {
        self.questions.set(self.questions.get() + 1);
        fault.asked()
    }

    /// Calls, and questions.
    fn counts(&self) -> (u32, u32) {
        (self.calls.get(), self.questions.get())
    }
}

/// Records the waits; time passes with them only.
#[derive(Default)]
struct Recorder {
    random: u64,
    waits: RefCell<Vec<Duration>>,
}

impl Recorder {
    fn drawing(random: u64) -> Self {
        Self {
            random,
            ..Self::default()
        }
    }

    fn take(&self) -> Vec<Duration> {
        self.waits.take()
    }
}

impl Clock for Recorder {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.waits.borrow().iter().sum())
    }

    fn random(&self) -> u64 {
        self.random
    }
}

impl BlockingTimer for Recorder {
    fn sleep(&self, duration: Duration) {
        self.waits.borrow_mut().push(duration);
    }
}

impl Timer for Recorder {
    type Sleep = Ready<()>;

    fn sleep(&self, duration: Duration) -> Ready<()> {
        BlockingTimer::sleep(self, duration);
        ready(())
    }
}

type Answer = Result<u32, RetryError<Fault>>;

#[retry(max = 4, base = "1s", cap = "3s", jitter = "none", retry_after = |fault| service.asked(fault), timer = timer)]
fn sync(service: &Service<'_>, timer: &Recorder) -> Result<u32, RetryError<Fault>> {
    service.call()
}

#[retry(max = 4, base = "1s", cap = "3s", jitter = "none", retry_after = |fault| service.asked(fault), timer = timer)]
async fn asynchronous(service: &Service<'_>, timer: &Recorder) -> Result<u32, RetryError<Fault>> {
    service.call()
}

/// The waits and the answer of both, which are the same.
#[track_caller]
fn both(faults: &[Fault], random: u64) -> (Vec<Duration>, Answer, (u32, u32)) {
    let (timer, service) = (Recorder::drawing(random), Service::of(faults));
    let answer = sync(&service, &timer);
    let found = (timer.take(), answer, service.counts());
    let service = Service::of(faults);
    let answer = drive(asynchronous(&service, &timer));
    assert_eq!((timer.take(), answer, service.counts()), found);
    assert_nothing_is_left();
    found
}

fn end(answer: &Answer) -> (GiveUpReason, u32) {
    let failed = answer.as_ref().expect_err("always");
    (failed.reason(), failed.attempts())
}

/// It replaces the computed one, the cap too; the others keep their places.
#[test]
fn it_replaces_the_computed_delay() {
    let (waits, answer, counts) = both(&[LOST, Fault::Lost(None), LOST], 0);
    assert_eq!(waits, [ASKED, 2 * SECOND, ASKED]);
    assert_eq!((answer, counts), (Ok(4), (4, 3)));
}

#[test]
fn zero_is_the_computed_delay() {
    let zero = Some(Duration::ZERO);
    let (waits, answer, counts) = both(&[Fault::Lost(zero), Fault::Refused(zero)], u64::MAX);
    assert_eq!(waits, [SECOND, 2 * SECOND]);
    assert_eq!((answer, counts), (Ok(3), (3, 2)));
}

/// Asked about the last one, too: its verdict allows another attempt, the policy does not.
#[test]
fn asked_once_about_each_failure() {
    let (waits, answer, counts) = both(&[LOST; 9], 0);
    assert_eq!((waits, counts), (vec![ASKED; 3], (4, 4)));
    assert_eq!(end(&answer), (GiveUpReason::Attempts, 4));
}

#[test]
fn not_asked_about_what_is_not_retried() {
    for (fault, reason) in [
        (Fault::Wrong(Some(ASKED)), GiveUpReason::Permanent),
        (Fault::Stop(Some(ASKED)), GiveUpReason::RetryForbidden),
    ] {
        let (waits, answer, counts) = both(&[fault], 0);
        assert_eq!((waits, counts), (vec![], (1, 0)));
        assert_eq!(end(&answer), (reason, 1));
    }
    assert_eq!(both(&[], 0), (vec![], Ok(1), (1, 0)));
}

/// `None` leaves what the verdict says; anything else takes its place.
#[test]
fn beside_the_own_delay_of_the_verdict() {
    let own = 4 * SECOND;
    let [left, replaced, zero] =
        [None, Some(ASKED), Some(Duration::ZERO)].map(|asked| Fault::Later { own, asked });
    let (waits, answer, counts) = both(&[left, replaced, zero], 0);
    // The last is the computed one, by its cap.
    assert_eq!(waits, [own, ASKED, 3 * SECOND]);
    assert_eq!((answer, counts), (Ok(4), (4, 3)));
}

#[test]
fn patience_is_the_longest() {
    let minute = Duration::from_secs(60);
    let (waits, answer, counts) = both(&[Fault::Lost(Some(minute))], 0);
    assert_eq!((waits, answer, counts), (vec![minute], Ok(2), (2, 1)));
    let above = Fault::Refused(Some(minute + Duration::from_nanos(1)));
    let (waits, answer, counts) = both(&[above], 0);
    assert_eq!((waits, counts), (vec![], (1, 1)));
    assert_eq!(end(&answer), (GiveUpReason::RetryAfterTooLong, 1));
}

/// A shape without delays waits when it is asked to, as long as its patience lasts.
#[test]
fn without_a_shape() {
    #[retry(backoff = "none", max_retry_after = "5s", retry_after = Fault::asked, timer = timer)]
    fn fetch(service: &Service<'_>, timer: &Recorder) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    let timer = Recorder::default();
    let faults = [LOST, Fault::Lost(None)];
    assert_eq!(fetch(&Service::of(&faults), &timer), Ok(3));
    // No delay, no wait.
    assert_eq!(timer.take(), [ASKED]);
    let above = [Fault::Lost(Some(ASKED + ms(1)))];
    let answer = fetch(&Service::of(&above), &timer);
    assert_eq!(end(&answer), (GiveUpReason::RetryAfterTooLong, 1));
    assert!(timer.take().is_empty());
}

/// A delay that would not end before it is not begun, the call's own and one from above.
#[test]
fn deadlines() {
    #[retry(base = "1s", deadline = "5s", retry_after = Fault::asked, timer = timer)]
    fn fetch(service: &Service<'_>, timer: &Recorder) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    let timer = Recorder::default();
    let answer = fetch(&Service::of(&[LOST]), &timer);
    assert_eq!(end(&answer), (GiveUpReason::Deadline, 1));
    let sooner = [Fault::Lost(Some(ms(4999)))];
    assert_eq!(fetch(&Service::of(&sooner), &timer), Ok(2));
    assert_eq!(timer.take(), [ms(4999)]);
    let service = Service::of(&[LOST]);
    let answer = deadline::within_blocking(4 * SECOND, || sync(&service, &timer));
    assert_eq!(end(&answer), (GiveUpReason::Deadline, 1));
    assert_eq!(service.counts(), (1, 1));
    assert!(timer.take().is_empty());
}

/// It does not make safe what is not: an ambiguous failure ends the call, unasked.
/// The spread never ends a call that the delay alone would not: it is at most what is left.
#[test]
fn the_spread_ends_before_the_deadline() {
    #[retry(max = 4, base = "1s", jitter = "none", deadline = "10500ms", retry_after = |fault| service.asked(fault), timer = timer)]
    fn sync(service: &Service<'_>, timer: &Recorder) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    #[retry(max = 4, base = "1s", jitter = "none", deadline = "10500ms", retry_after = |fault| service.asked(fault), timer = timer)]
    async fn asynchronous(
        service: &Service<'_>,
        timer: &Recorder,
    ) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    let left = ms(10_500);
    let latest = left.saturating_sub(Duration::from_nanos(1));
    let cases = [
        // 10 % would be 1 s, and half a second is left.
        (10 * SECOND, u64::MAX, Some(latest)),
        (10 * SECOND, 1 << 63, Some(ms(10_250))),
        (10 * SECOND, 0, Some(10 * SECOND)),
        // All of the spread fits.
        (9 * SECOND, u64::MAX, Some(ms(9_900))),
        (9 * SECOND, 1 << 63, Some(ms(9_450))),
        (latest, u64::MAX, Some(latest)),
        // It does not fit by itself.
        (left, 0, None),
    ];
    for (asked, random, expected) in cases {
        let faults = [Fault::Lost(Some(asked))];
        let timer = Recorder::drawing(random);
        let calls: [fn(&Service<'_>, &Recorder) -> Answer; 2] =
            [sync, |service, timer| drive(asynchronous(service, timer))];
        for call in calls {
            let answer = call(&Service::of(&faults), &timer);
            let waits = timer.take();
            assert_eq!(answer.is_ok(), expected.is_some(), "{asked:?} {random}");
            assert_eq!(waits.len(), usize::from(expected.is_some()));
            if let (Some(expected), [wait]) = (expected, &waits[..]) {
                let near = wait.abs_diff(expected) <= Duration::from_nanos(2);
                assert!(near && *wait >= asked && *wait < left, "{waits:?}");
            }
        }
    }
}

#[test]
fn not_idempotent() {
    #[retry(idempotent = false, retry_after = |fault| service.asked(fault), timer = timer)]
    fn pay(service: &Service<'_>, timer: &Recorder) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    let timer = Recorder::default();
    let own = ASKED;
    let asked = Some(ASKED);
    for fault in [LOST, Fault::Later { own, asked }] {
        let faults = [fault];
        let service = Service::of(&faults);
        let answer = pay(&service, &timer);
        assert_eq!(end(&answer), (GiveUpReason::NotIdempotent, 1));
        assert_eq!(service.counts(), (1, 0));
    }
    let service = Service::of(&[REFUSED, LOST]);
    assert_eq!(
        end(&pay(&service, &timer)),
        (GiveUpReason::NotIdempotent, 2)
    );
    assert_eq!((timer.take(), service.counts()), (vec![ASKED], (2, 1)));
}

/// Asked after `verify`, about what that lets through.
#[test]
fn after_verify() {
    #[retry(
        idempotent = false,
        verify = |_| verified,
        retry_after = |fault| service.asked(fault),
        timer = timer
    )]
    fn pay(
        service: &Service<'_>,
        verified: Verified<u32>,
        timer: &Recorder,
    ) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    let timer = Recorder::default();
    let pay = |verified| {
        let service = Service::of(&[LOST]);
        let answer = pay(&service, verified, &timer);
        (answer.map_err(|failed| failed.reason()), service.counts())
    };
    assert_eq!(pay(Verified::Done(7)), (Ok(7), (1, 0)));
    assert_eq!(
        pay(Verified::Unknown),
        (Err(GiveUpReason::NotIdempotent), (1, 0))
    );
    assert!(timer.take().is_empty());
    assert_eq!(pay(Verified::NotDone), (Ok(2), (2, 1)));
    assert_eq!(timer.take(), [ASKED]);
}

/// A question in between does not make it forgotten.
#[test]
fn kept_through_verify() {
    #[retry(max = 2, jitter = "none", idempotent = false, verify = |_| Verified::NotDone, timer = timer)]
    fn pay(service: &Service<'_>, timer: &Recorder) -> Result<u32, Fault> {
        service.call()
    }
    let own = Fault::Later {
        own: ASKED,
        asked: None,
    };
    let timer = Recorder::default();
    assert_eq!(pay(&Service::of(&[own]), &timer), Ok(2));
    assert_eq!(timer.take(), [ASKED]);
}

/// `on` and `except` decide, whatever the error asks for.
#[test]
fn beside_on_and_except() {
    #[retry(
        base = "1s",
        on = |fault| if *fault == LOST { Verdict::Throttled(Some(SECOND)) } else { Verdict::Transient },
        except(Fault::Wrong(_)),
        retry_after = |fault| service.asked(fault),
        timer = timer
    )]
    fn fetch(service: &Service<'_>, timer: &Recorder) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    let timer = Recorder::default();
    let service = Service::of(&[LOST, Fault::Wrong(Some(ASKED))]);
    let answer = fetch(&service, &timer);
    assert_eq!(end(&answer), (GiveUpReason::Permanent, 2));
    assert_eq!((timer.take(), service.counts()), (vec![ASKED], (2, 1)));
}

/// A value that is not final and an attempt that timed out have no error to ask.
#[tokio::test(start_paused = true)]
async fn only_errors_are_asked() {
    #[retry(
        max = 4,
        backoff = "fixed",
        base = "1s",
        jitter = "none",
        timeout = "10s",
        until = |number| *number > 2,
        retry_after = |fault| service.asked(fault)
    )]
    async fn poll(service: &Service<'_>) -> Result<u32, RetryError<Fault>> {
        match service.call() {
            Ok(2) => pending().await,
            answer => answer,
        }
    }
    let (service, start) = (Service::of(&[]), tokio::time::Instant::now());
    // Not final, timed out, final.
    assert_eq!(poll(&service).await, Ok(3));
    assert_eq!(service.counts(), (3, 0));
    assert_eq!(start.elapsed(), 12 * SECOND);
    let (service, start) = (Service::of(&[LOST]), tokio::time::Instant::now());
    assert_eq!(poll(&service).await, Ok(3));
    assert_eq!(service.counts(), (3, 1));
    let waited = start.elapsed();
    assert!(waited >= ASKED + 11 * SECOND && waited <= ASKED + 11 * SECOND + ms(501));
}

/// The other hooks see the delay that is waited for.
#[test]
fn beside_the_other_hooks() {
    #[retry(
        max = 2,
        retry_after = Fault::asked,
        on_retry = |retry| seen.push(retry.delay()),
        before_retry = |retry| seen.push(retry.delay()),
        fallback = |failed: RetryError<Fault>| failed.attempts() + 10,
        timer = timer
    )]
    fn fetch(
        service: &Service<'_>,
        seen: &mut Vec<Duration>,
        timer: &Recorder,
    ) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    let (timer, mut seen) = (Recorder::default(), vec![]);
    assert_eq!(fetch(&Service::of(&[LOST; 2]), &mut seen, &timer), Ok(12));
    assert_eq!((timer.take(), seen), (vec![ASKED], vec![ASKED; 2]));
}

#[test]
fn in_blocks() {
    let timer = Recorder::default();
    let service = Service::of(&[LOST]);
    let answer = retry_block!(
        retry_after = |fault| service.asked(fault),
        timer = &timer,
        { service.call() }
    );
    assert_eq!((answer, service.counts()), (Ok(2), (2, 1)));
    let service = Service::of(&[REFUSED]);
    let asked = ASKED + SECOND;
    let answer = drive(retry_block!(
        retry_after = || asked,
        timer = &timer,
        async || -> Result<u32, Fault> { service.call() }
    ));
    assert_eq!((answer, service.counts()), (Ok(2), (2, 0)));
    assert_eq!(timer.take(), [ASKED, asked]);
}

/// In a retry of another call it is for that one to wait.
#[test]
fn below_a_retry() {
    #[retry(max = 2, backoff = "none", on(_))]
    fn outer(service: &Service<'_>, timer: &Recorder) -> Result<u32, GiveUpReason> {
        sync(service, timer).map_err(|failed| failed.reason())
    }
    let (timer, service) = (Recorder::default(), Service::of(&[LOST; 9]));
    assert_eq!(outer(&service, &timer), Err(GiveUpReason::Nested));
    assert_eq!((timer.take(), service.counts()), (vec![ASKED; 3], (5, 5)));
}

proptest! {
    /// Never shorter than asked for, and at most 10 % longer, by the key and by the verdict.
    #[test]
    fn at_most_a_tenth_on_top(nanos in 1..=60_000_000_000_u64, random in any::<u64>()) {
        let asked = Duration::from_nanos(nanos);
        let own = Fault::Later { own: asked, asked: None };
        for fault in [Fault::Lost(Some(asked)), Fault::Refused(Some(asked)), own] {
            let (waits, ..) = both(&[fault], random);
            prop_assert_eq!(waits.len(), 1);
            prop_assert!(waits[0] >= asked && waits[0] <= asked + asked / 10 + Duration::from_nanos(1), "{:?}", waits);
        }
    }
}

/// The jitter is there: the largest number gives nearly all of it.
#[test]
fn the_jitter_on_top() {
    for (random, wait) in [(0, 5000), (1 << 63, 5250), (u64::MAX, 5500)] {
        let (waits, ..) = both(&[LOST], random);
        let near = waits[0].abs_diff(ms(wait));
        assert!(near <= Duration::from_micros(1), "{waits:?}");
    }
}
