//! What could panic in library code and does not, whatever errors, clocks and threads do. `docs/panics.md` lists what
//! remains.
#![cfg(all(feature = "keyed", feature = "observe", feature = "tokio"))]
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use retry_runtime::observe::{self, Event};
use retry_runtime::timer::{BlockingTimer, Clock, Timestamp};
use retry_runtime::{
    Backoff, Breaker, Budget, Classify, Jitter, Keyed, Policy, Throttle, Verdict, deadline,
};

const AT_ONCE: Policy = Policy::new().max(3).base(Duration::from_nanos(1));

/// It says that it could not be written, as dates with a wrong format do.
#[derive(PartialEq)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("half a ")?;
        Err(fmt::Error)
    }
}

impl fmt::Debug for Unspeakable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Classify for Unspeakable {
    fn classify(&self) -> Verdict {
        Verdict::Transient
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }
}

#[test]
fn errors_that_fail_to_format_are_reported_as_far_as_they_go() {
    let said = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&said);
    let observer = move |event: &Event<'_>| {
        if let Event::GaveUp(facts, _) = event {
            let message = facts.error_message().map(str::to_owned);
            heard.lock().unwrap().push(message);
        }
    };
    let answer = observe::scope_blocking(Arc::new(observer), || {
        let by_classify = AT_ONCE.run(|| Err::<(), _>(Unspeakable));
        let shown = AT_ONCE.on(|_: &Unspeakable| true).shown();
        (by_classify, shown.run(|| Err::<(), _>(Unspeakable)))
    });
    assert!(answer == (Err(Unspeakable), Err(Unspeakable)));
    let half = || Some("half a ".to_owned());
    assert_eq!(*said.lock().unwrap(), [half(), half()]);
}

static KEYED: Keyed<u64, u64> = Keyed::new(|key| *key);
static BUDGET: Budget = Budget::per_success(0.1);
static BY_COUNT: Breaker = Breaker::count_window(20);
static BY_TIME: Breaker = Breaker::time_window(Duration::from_secs(10));
static ADAPTIVE: Throttle = Throttle::adaptive();
static CUBIC: Throttle = Throttle::cubic();

/// What a variable of a thread does when it is dropped; the answer is whether it panicked.
struct AtTheEnd {
    result: Option<Sender<bool>>,
}

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        let panicked = catch_unwind(AssertUnwindSafe(everything)).is_err();
        if let Some(result) = &self.result {
            result.send(panicked).unwrap();
        }
    }
}

/// Of all that keeps something in variables of the thread.
fn everything() {
    assert_eq!((*KEYED.get(&1), *KEYED.get(&2)), (1, 2));
    KEYED.for_each(|_, _| ());
    KEYED.remove(&1);
    for breaker in [&BY_COUNT, &BY_TIME] {
        for throttle in [&ADAPTIVE, &CUBIC] {
            let policy = AT_ONCE.deadline(Duration::from_secs(1));
            let runner = policy.runner().budget(&BUDGET);
            let runner = runner.breaker(breaker).throttle(throttle);
            let observer = Arc::new(|_: &Event<'_>| ());
            let mut left = 1;
            let answer = observe::scope_blocking(observer, || {
                runner.try_run(|| {
                    if core::mem::take(&mut left) == 0 {
                        return Ok(());
                    }
                    Err(std::io::Error::from(std::io::ErrorKind::TimedOut))
                })
            });
            drop(answer);
        }
    }
    let _left = deadline::within_blocking(Duration::from_secs(1), deadline::remaining);
}

/// The variables of a thread are dropped the last one first.
fn ends_well(run: fn()) {
    thread_local! {
        static FIRST: RefCell<AtTheEnd> = const { RefCell::new(AtTheEnd { result: None }) };
        static LAST: RefCell<AtTheEnd> = const { RefCell::new(AtTheEnd { result: None }) };
    }
    let (result, panicked) = channel();
    let thread = thread::spawn(move || {
        FIRST.with_borrow_mut(|end| end.result = Some(result.clone()));
        run();
        LAST.with_borrow_mut(|end| end.result = Some(result));
    });
    thread.join().unwrap();
    assert_eq!(panicked.iter().collect::<Vec<_>>(), [false, false]);
}

#[test]
fn threads_may_retry_to_their_end() {
    ends_well(everything);
    ends_well(|| ());
    // Once paused in the process, tokio's clock is asked for through a variable of the thread.
    ends_well(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        runtime.unwrap().block_on(async { everything() });
    });
}

/// A clock that says what it likes, each time the next of these.
struct Odd {
    moments: &'static [u64],
    asked: Cell<usize>,
    random: u64,
}

impl Clock for &Odd {
    fn now(&self) -> Timestamp {
        let asked = self.asked.replace(self.asked.get().wrapping_add(1));
        let nanos = self.moments[asked % self.moments.len()];
        Timestamp::from_origin(Duration::from_nanos(nanos))
    }

    fn random(&self) -> u64 {
        self.random
    }
}

impl BlockingTimer for &Odd {
    fn sleep(&self, _: Duration) {}
}

#[test]
fn clocks_may_say_what_they_like() {
    const MAX: u64 = u64::MAX;
    let clocks: [&[u64]; 7] = [
        &[0],
        &[MAX],
        &[MAX - 1],
        &[0, MAX],
        &[MAX, 0],
        &[MAX - 1, 5, 0, MAX, 1 << 62],
        &[1 << 63, (1 << 63) - 1, 1, 1 << 40],
    ];
    let policies = [
        AT_ONCE,
        AT_ONCE.deadline(Duration::from_secs(86_400)),
        AT_ONCE.deadline(Duration::from_nanos(1)),
        Policy::new().max(40).cap(Duration::from_secs(86_400)),
        // Policies of run-time values are not checked unless one asks for it.
        Policy::new()
            .max(0)
            .factor(f64::NAN)
            .jitter(Jitter::Ratio(f64::NAN)),
        Policy::new()
            .max(9)
            .factor(f64::INFINITY)
            .jitter(Jitter::Ratio(-1e300)),
        Policy::new()
            .base(Duration::MAX)
            .first(Duration::MAX)
            .cap(Duration::ZERO),
        Policy::new()
            .backoff(Backoff::Decorrelated)
            .cap(Duration::MAX)
            .base(Duration::MAX),
    ];
    for moments in clocks {
        for random in [0, MAX] {
            let odd = &Odd {
                moments,
                asked: Cell::new(0),
                random,
            };
            let (budget, tokens) = (Budget::per_success(0.1), Budget::tokens(10));
            let (by_count, by_time) = (
                Breaker::count_window(5),
                Breaker::time_window(Duration::from_secs(1)),
            );
            let (adaptive, cubic) = (Throttle::adaptive(), Throttle::cubic());
            for (i, policy) in policies.iter().cycle().take(80).enumerate() {
                let runner = policy.on(|_: &u8| Verdict::Throttled(None)).timer(odd);
                let runner = runner.budget(if i % 2 == 0 { &budget } else { &tokens });
                let runner = runner.breaker(if i % 3 == 0 { &by_count } else { &by_time });
                let runner = runner.throttle(&adaptive);
                let mut attempts = 0;
                let answer = runner.try_run(|| {
                    attempts += 1;
                    if attempts > i % 7 { Ok(()) } else { Err(1_u8) }
                });
                drop(answer);
                // By itself: who waits for a clock that stands still waits for ever.
                if let Ok(mut permit) = cubic.permit_with_clock(&odd) {
                    let _ = permit.wait_with_clock(&odd);
                    match i % 3 {
                        0 => permit.succeeded_with_clock(&odd),
                        1 => permit.failed_with_clock(Verdict::Throttled(None), &odd),
                        _ => drop(permit),
                    }
                }
            }
        }
    }
}

/// The first attempt needs no timer; the first delay does.
fn poll_once(call: impl Future) -> bool {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    Box::pin(call).as_mut().poll(&mut context).is_pending()
}

#[test]
fn without_a_runtime_another_timer_waits() {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    drop(runtime.unwrap());
    let policy = Policy::new().jitter(Jitter::None);
    assert!(poll_once(policy.runner().try_run_async(async || Err::<
        (),
        _,
    >(
        Unspeakable
    ))));
}

#[test]
#[should_panic(expected = "there is no reactor running")]
fn without_a_runtime_tokio_says_so() {
    let policy = Policy::new().jitter(Jitter::None);
    let runner = policy.runner().timer(retry_runtime::timer::Tokio);
    poll_once(runner.try_run_async(async || Err::<(), _>(Unspeakable)));
}

#[test]
fn sync_calls_may_block_a_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(async {
        assert!(AT_ONCE.run(|| Err::<(), _>(Unspeakable)).is_err());
    });
}

/// As deep as nothing is in earnest; dropped one inside the other they would overflow the stack.
#[test]
fn scopes_may_be_as_deep_as_they_like() {
    let small = thread::Builder::new().stack_size(128 << 10);
    let thread = small.spawn(|| {
        let observer: Arc<dyn observe::Observer> = Arc::new(|_: &Event<'_>| ());
        let deep = (0..100_000).fold(observe::current(), |scope, _| {
            scope.observer(Arc::clone(&observer))
        });
        let shared = deep.clone();
        drop(deep);
        drop(shared);
    });
    thread.unwrap().join().unwrap();
}
