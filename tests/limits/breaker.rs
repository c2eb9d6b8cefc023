use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::observe::{self, Event};
use reattempt::overload::breaker::State;
use reattempt::{
    Breaker, Budget, Bulkhead, GaveUp, GiveUpReason, Policy, RetryError, Throttle, Verdict, retry,
    retry_block, testing,
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Error {
    Down,
    Missing,
    Cut(GiveUpReason, u32),
}

impl From<GaveUp> for Error {
    fn from(end: GaveUp) -> Self {
        Self::Cut(end.reason(), end.attempts())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of `on`")]
fn is_down(error: &Error) -> bool {
    *error == Error::Down
}

/// V52: a window of 4, a ratio of .75, 7 retries, always failing.
#[test]
fn v52_the_breaker_opens_in_the_middle_of_a_call() {
    static BREAKER: Breaker = Breaker::count_window(4).failure_ratio(0.75);
    #[retry(max = 8, base = "1ms", breaker = &BREAKER, on(_))]
    fn call(calls: &Cell<u32>) -> Result<(), RetryError<&'static str>> {
        calls.set(calls.get() + 1);
        Err("down")
    }
    let _time = testing::virtual_time();
    let calls = Cell::new(0);
    let end = call(&calls).unwrap_err();
    assert_eq!(
        (calls.get(), end.reason(), end.attempts()),
        (4, GiveUpReason::BreakerOpen, 4)
    );
    assert_eq!(end.last(), Some(&"down"));
    let end = call(&calls).unwrap_err();
    assert_eq!(
        (calls.get(), end.reason(), end.attempts()),
        (4, GiveUpReason::BreakerOpen, 0)
    );
    assert_eq!(end.last(), None);
}

static ASYNC: Breaker = Breaker::count_window(2).cooldown(Duration::from_secs(5));

#[retry(max = 2, base = "1ms", breaker = &ASYNC, on = is_down)]
async fn call(calls: &Cell<u32>, error: Option<Error>) -> Result<u32, Error> {
    calls.set(calls.get() + 1);
    tokio::time::sleep(Duration::from_millis(1)).await;
    match error {
        Some(error) => Err(error),
        None => Ok(calls.get()),
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_answers_with_an_error_of_the_function() {
    let calls = Cell::new(0);
    // What is final says nothing about the service.
    for _ in 0..5 {
        assert_eq!(
            call(&calls, Some(Error::Missing)).await,
            Err(Error::Missing)
        );
    }
    assert_eq!(ASYNC.state(), State::Closed);
    assert_eq!(call(&calls, Some(Error::Down)).await, Err(Error::Down));
    assert_eq!((calls.get(), ASYNC.state()), (7, State::Open));
    assert_eq!(
        call(&calls, None).await,
        Err(Error::Cut(GiveUpReason::BreakerOpen, 0))
    );
    assert_eq!(calls.get(), 7);
    tokio::time::advance(Duration::from_secs(5)).await;
    // The permit of a probe that is dropped goes back.
    {
        let probe = call(&calls, None);
        tokio::pin!(probe);
        assert!(futures::FutureExt::now_or_never(probe.as_mut()).is_none());
        assert_eq!(
            call(&calls, None).await,
            Err(Error::Cut(GiveUpReason::BreakerOpen, 0))
        );
    }
    assert_eq!(call(&calls, None).await, Ok(9));
    assert_eq!(ASYNC.state(), State::Closed);
}

#[test]
fn blocks_and_options_and_runners() {
    static BREAKER: Breaker = Breaker::count_window(1);
    let _time = testing::virtual_time();
    let answer = retry_block!(max = 2, breaker = &BREAKER, || -> Option<u32> { None });
    assert_eq!(answer, None);
    assert_eq!(BREAKER.state(), State::Open);
    let answer = retry_block!(max = 2, breaker = &BREAKER, || -> Option<u32> { Some(1) });
    assert_eq!(answer, None);
    let end = Policy::new()
        .runner()
        .breaker(&BREAKER)
        .try_run(|| Ok::<_, std::io::Error>(1));
    assert_eq!(end.unwrap_err().reason(), GiveUpReason::BreakerOpen);
    let answer = Policy::new()
        .runner()
        .throttle(&RATE)
        .breaker(&BREAKER)
        .try_run(|| Ok::<_, std::io::Error>(1));
    assert!(answer.is_err());
}

#[retry(max = 3, base = "1ms", throttle = &RATE, budget = 0.1, breaker = &OTHER, hedge = "10ms", timeout = "1s", deadline = "5s", on(_))]
async fn everything(calls: &Cell<u32>) -> Result<u32, RetryError<&'static str>> {
    let n = calls.get() + 1;
    calls.set(n);
    if n == 1 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(n)
}
static RATE: Throttle = Throttle::cubic();
static OTHER: Breaker = Breaker::count_window(10);

#[tokio::test(start_paused = true)]
async fn all_at_once() {
    let calls = Cell::new(0);
    let start = tokio::time::Instant::now();
    assert_eq!(everything(&calls).await.unwrap(), 2);
    assert_eq!(start.elapsed(), Duration::from_millis(10));
}

#[tokio::test(start_paused = true)]
async fn a_timer_made_for_copies() {
    #[retry(hedge = "10ms", timer = &reattempt::timer::Tokio, on(_))]
    async fn borrowed(calls: &Cell<u32>) -> Result<u32, &'static str> {
        slow_once(calls).await
    }
    #[retry(hedge = "10ms", timer = timers(1), on(_))]
    async fn made(calls: &Cell<u32>) -> Result<u32, &'static str> {
        slow_once(calls).await
    }
    fn timers(_: u32) -> reattempt::timer::Tokio {
        reattempt::timer::Tokio
    }
    assert_eq!(borrowed(&Cell::new(0)).await, Ok(2));
    assert_eq!(made(&Cell::new(0)).await, Ok(2));
}

async fn slow_once(calls: &Cell<u32>) -> Result<u32, &'static str> {
    calls.set(calls.get() + 1);
    if calls.get() == 1 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(calls.get())
}

/// X10 where only the running program knows the breaker, or the policy: no call fails for it.
#[tokio::test(start_paused = true)]
async fn a_window_below_the_timeout() {
    #[retry(max = 2, base = "1ms", timeout = "1s", breaker = breaker, on(_))]
    async fn borrowed(breaker: &Breaker) -> Result<u32, RetryError<&'static str>> {
        Err("down")
    }
    static SECOND: Breaker = Breaker::time_window(Duration::from_secs(1)).min_calls(1000);
    #[retry(policy = policy, breaker = &SECOND, on(_))]
    async fn under(policy: Policy) -> Result<u32, RetryError<&'static str>> {
        Err("down")
    }
    const FITTING: Policy = Policy::new().max(2).timeout(Duration::from_millis(500));
    const LONG: Policy = FITTING.timeout(Duration::from_millis(501));
    let short = Breaker::time_window(Duration::from_secs(1));
    let long = Breaker::time_window(Duration::from_secs(2));
    let run = async |policy: Policy| {
        let runner = policy.on(|_: &&str| true).name("runner");
        let runner = runner.breaker(&SECOND);
        runner.try_run_async(async || Err::<u32, _>("down")).await
    };

    let (rules, calls) = broken_rules(async {
        let mut calls = Vec::new();
        for _ in 0..2 {
            calls.push(borrowed(&long).await);
            calls.push(under(FITTING).await);
            calls.push(run(FITTING).await);
            calls.push(borrowed(&short).await);
            calls.push(under(LONG).await);
            calls.push(run(LONG).await);
        }
        calls
    });
    let calls = calls.await;
    let ends: Vec<_> = (calls.iter())
        .map(|call| call.as_ref().map_err(|end| (end.reason(), end.attempts())))
        .collect();
    assert_eq!(ends, [Err((GiveUpReason::Attempts, 2)); 12]);

    let rules = rules.lock().unwrap();
    let operations = ["::borrowed", "::under", "runner"];
    assert_eq!(rules.len(), operations.len(), "{rules:?}");
    for (line, operation) in rules.iter().zip(operations) {
        let says = "the policy breaks a rule, and calls keep to it all the same: the `breaker`'s window of";
        assert!(line.contains(&format!("{operation}: {says}")), "{line}");
        assert!(line.contains("rule X10"), "{line}");
    }
}

/// The events `invalid_policy` of what `calls` does, as a log shows them.
fn broken_rules<F: Future>(calls: F) -> (Arc<Mutex<Vec<String>>>, impl Future<Output = F::Output>) {
    let rules = Arc::<Mutex<Vec<String>>>::default();
    let log = Arc::clone(&rules);
    let observer = move |event: &Event<'_>| {
        if let Event::InvalidPolicy { .. } = event {
            log.lock().unwrap().push(event.to_string());
        }
    };
    (rules, observe::scope(Arc::new(observer), calls))
}

/// Who above is in a hurry says nothing of the service.
#[tokio::test(start_paused = true)]
async fn a_deadline_from_above() {
    static PATIENT: Breaker = Breaker::count_window(5);
    #[retry(max = 1, deadline = "5s", breaker = &PATIENT, on(_))]
    async fn call() -> Result<u32, RetryError<&'static str>> {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(1)
    }
    #[retry(max = 1, deadline = "10ms", breaker = &PATIENT, on(_))]
    async fn hurried() -> Result<u32, RetryError<&'static str>> {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(1)
    }
    for _ in 0..10 {
        let end = reattempt::deadline::within(Duration::from_millis(1), call()).await;
        assert!(end.is_err());
    }
    assert_eq!(PATIENT.state(), State::Closed);
    // Its own deadline is what the function asks of the service.
    for _ in 0..5 {
        assert!(hurried().await.is_err());
    }
    assert_eq!(PATIENT.state(), State::Open);
}

/// It shows nothing but how long the attempt ran: a service that hangs opens a breaker that counts slow calls.
#[tokio::test(start_paused = true)]
async fn what_hangs_until_a_deadline_from_above_is_slow() {
    #[retry(max = 1, timeout = "1h", breaker = breaker, on(_))]
    async fn call(breaker: &Breaker) -> Result<(), RetryError<&'static str>> {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(())
    }
    let slow = Duration::from_secs(1);
    let counting = || Breaker::count_window(3).slow_calls(slow, 1.0);
    for (breaker, left, calls, state) in [
        (counting(), 2 * slow, 3, State::Open),
        // Whoever waits for less time than that learns nothing.
        (counting(), slow / 2, 0, State::Closed),
        (Breaker::count_window(3), 2 * slow, 0, State::Closed),
    ] {
        for _ in 0..3 {
            let end = reattempt::deadline::within(left, call(&breaker))
                .await
                .unwrap_err();
            assert_eq!(end.reason(), GiveUpReason::Deadline);
        }
        let stats = breaker.stats();
        assert_eq!((stats.slow_calls(), stats.failures()), (calls, 0));
        assert_eq!(breaker.state(), state);
    }

    // A probe that hangs has not succeeded, and one that was given little time may be made again.
    let breaker = counting().cooldown(slow);
    for _ in 0..3 {
        let _ = reattempt::deadline::within(2 * slow, call(&breaker)).await;
    }
    for (left, state) in [(slow / 2, State::HalfOpen), (2 * slow, State::Open)] {
        tokio::time::sleep(slow).await;
        let end = reattempt::deadline::within(left, call(&breaker))
            .await
            .unwrap_err();
        assert_eq!(end.reason(), GiveUpReason::Deadline);
        assert_eq!(breaker.state(), state);
    }
}

/// A service that answers 404 is well: the breaker closes, and concurrent calls get through again.
#[test]
fn a_permanent_answer_closes_a_half_open_breaker() {
    static WELL: Breaker = Breaker::count_window(1);
    #[retry(max = 1, breaker = &WELL, on = is_down)]
    fn call(error: Error) -> Result<u32, Error> {
        Err(error)
    }
    let time = testing::virtual_time();
    assert_eq!(call(Error::Down), Err(Error::Down));
    assert_eq!(WELL.state(), State::Open);
    time.advance(Duration::from_secs(5));
    assert_eq!(WELL.state(), State::HalfOpen);
    assert_eq!(call(Error::Missing), Err(Error::Missing));
    assert_eq!(WELL.state(), State::Closed);
}

/// A probe is one call.
#[tokio::test(start_paused = true)]
async fn no_copies_of_a_probe() {
    static PROBED: Breaker = Breaker::count_window(1);
    #[retry(max = 1, hedge = "5ms", breaker = &PROBED, on(_))]
    async fn call(calls: &Cell<u32>, fails: bool) -> Result<u32, RetryError<&'static str>> {
        calls.set(calls.get() + 1);
        tokio::time::sleep(Duration::from_millis(50)).await;
        if fails { Err("down") } else { Ok(calls.get()) }
    }
    let calls = Cell::new(0);
    assert!(call(&calls, true).await.is_err());
    assert_eq!(calls.take(), 2);
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(call(&calls, false).await.unwrap(), 1);
    assert_eq!(call(&calls, false).await.unwrap(), 3);
}

/// The wait of a throttle is none of the attempt's time.
#[tokio::test(start_paused = true)]
async fn a_wait_is_not_slow() {
    static SLOW: Breaker = Breaker::count_window(3).slow_calls(Duration::from_secs(1), 1.0);
    static FULL: Throttle = Throttle::cubic();
    #[retry(max = 1, breaker = &SLOW, throttle = &FULL, on(_))]
    async fn call() -> Result<u32, RetryError<&'static str>> {
        Ok(1)
    }
    FULL.permit().unwrap().failed(Verdict::Throttled(None));
    let start = tokio::time::Instant::now();
    for _ in 0..3 {
        assert!(call().await.is_ok());
    }
    assert!(start.elapsed() > Duration::from_secs(2));
    assert_eq!(SLOW.state(), State::Closed);
}

/// One breaker, asked by the real clock and by one that stands still: each goes by the time it reads, and nobody waits
/// for a time that is an hour ahead.
#[test]
fn opened_by_one_clock_and_asked_by_another() {
    static BOTH: Breaker = Breaker::count_window(1);
    let is_refused = || {
        BOTH.permit()
            .is_err_and(|open| open.retry_after().is_some())
    };
    BOTH.permit().unwrap().failed(Verdict::Transient);
    assert!(is_refused());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(async {
        assert!(is_refused());
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(BOTH.state(), State::HalfOpen);
        tokio::time::advance(Duration::from_secs(3600)).await;
        BOTH.permit().unwrap().failed(Verdict::Transient);
        assert!(is_refused());
    });
    assert_eq!(BOTH.state(), State::HalfOpen);
    BOTH.permit().unwrap().succeeded();
    assert_eq!(BOTH.state(), State::Closed);
}

/// As `state` says it.
#[test]
fn what_is_printed() {
    let time = testing::virtual_time();
    let breaker = Breaker::count_window(1).name("payments");
    let shown = || format!("{breaker:?}");
    assert_eq!(shown(), "Breaker { name: \"payments\", state: Closed, .. }");
    let permit = breaker.permit().expect("it is closed");
    permit.failed(Verdict::Transient);
    assert!(shown().contains("Open"), "{}", shown());
    assert!(!shown().contains("Half"), "{}", shown());
    time.advance(Duration::from_secs(5));
    assert!(shown().contains("HalfOpen"), "{}", shown());
}

/// When the breaker lets a call through again is known of it, whatever else limits its calls.
#[test]
fn an_end_says_when_the_breaker_lets_a_call_through() {
    const SEVEN_MINUTES: Duration = Duration::from_secs(420);
    static BREAKER: Breaker = Breaker::count_window(1)
        .cooldown(SEVEN_MINUTES)
        .cooldown_cap(SEVEN_MINUTES);
    static BULKHEAD: Bulkhead = Bulkhead::new(3);
    static THROTTLE: Throttle = Throttle::adaptive();
    static BUDGET: Budget = Budget::tokens(100);
    type Answer = Result<(), RetryError<&'static str>>;
    const fn down() -> Result<(), &'static str> {
        Err("down")
    }
    macro_rules! calls {
        ($([$($key:ident = $value:expr),*])*) => {
            [$({
                #[retry(max = 3, breaker = &BREAKER, $($key = $value,)* on(_))]
                fn call() -> Answer {
                    down()
                }
                #[retry(max = 3, breaker = &BREAKER, $($key = $value,)* on(_))]
                async fn later() -> Answer {
                    down()
                }
                let calls: [fn() -> Answer; 2] = [call, || futures::executor::block_on(later())];
                (stringify!($($key)*), calls)
            }),*]
        };
    }
    let _time = testing::virtual_time();
    for (limits, calls) in calls! {
        []
        [bulkhead = &BULKHEAD]
        [throttle = &THROTTLE]
        [budget = &BUDGET]
        [bulkhead = &BULKHEAD, throttle = &THROTTLE, budget = &BUDGET]
    } {
        for call in calls {
            BREAKER.reset();
            // Its own failure opens it, and then it is open from the start.
            for attempts in [1, 0] {
                let end = call().expect_err("down");
                let wait = end.retry_after().expect("a time");
                let is_its_own = wait > SEVEN_MINUTES / 2 && wait <= SEVEN_MINUTES * 2;
                let known = (end.reason(), end.attempts(), is_its_own);
                let expected = (GiveUpReason::BreakerOpen, attempts, true);
                assert_eq!(known, expected, "{limits}: {end:?}");
            }
        }
    }
}
