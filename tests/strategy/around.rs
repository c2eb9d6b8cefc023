//! What holds beside a strategy.

use super::*;

/// Says to wait for a second, for ever.
const ENDLESS: Longer = Longer { stop: u32::MAX };

fn reason<T: std::fmt::Debug, E: std::fmt::Debug>(
    answer: Result<T, RetryError<E>>,
) -> (GiveUpReason, u32) {
    let failed = answer.unwrap_err();
    (failed.reason(), failed.attempts())
}

#[test]
fn max_bounds_it() {
    #[retry(max = 3, on(_), strategy = ENDLESS, timer = timer)]
    fn fetch(timer: &Recorder, service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }

    #[retry(max = 1000, on(_), strategy = |_| Decision::Retry(Duration::ZERO), timer = Recorder::default())]
    fn hammer(service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }

    let (timer, service) = (Recorder::default(), Service::failing(u32::MAX));
    assert_eq!(reason(fetch(&timer, &service)), (GiveUpReason::Attempts, 3));
    assert_eq!(timer.seconds(), [1, 2]);
    assert_eq!(reason(hammer(&service)), (GiveUpReason::Attempts, 1000));
}

/// Without `max` nothing else counts: neither the default nor the rule about more than 20.
#[test]
fn it_alone_says_how_often() {
    #[retry(on(_), timer = timer, strategy = |failure| {
        assert_eq!(failure.max(), None);
        if failure.attempt() == 100 { Decision::Stop } else { Decision::Retry(Duration::ZERO) }
    })]
    fn fetch(timer: &Recorder, service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }

    let (timer, service) = (Recorder::default(), Service::failing(u32::MAX));
    assert_eq!(
        reason(fetch(&timer, &service)),
        (GiveUpReason::Strategy, 100)
    );
    assert_eq!(timer.seconds(), [0; 0]);
}

#[retry(deadline = "10s", on(_), strategy = ENDLESS, timer = timer)]
fn limited(timer: &Recorder, service: &Service) -> Result<u32, RetryError<Fault>> {
    service.call()
}

/// 1 + 2 + 3 s fit, 4 more do not, and are not begun. No default of a delay breaks a rule about short deadlines.
#[test]
fn the_deadline_ends_it() {
    #[retry(deadline = "1ms", on(_), strategy = ENDLESS, timer = timer)]
    fn short(timer: &Recorder, service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }

    let (timer, service) = (Recorder::default(), Service::failing(9));
    assert_eq!(
        reason(limited(&timer, &service)),
        (GiveUpReason::Deadline, 4)
    );
    assert_eq!(timer.seconds(), [1, 2, 3]);
    assert_eq!(reason(short(&timer, &service)), (GiveUpReason::Deadline, 1));
}

#[test]
fn a_deadline_from_above_ends_it() {
    #[retry(on(_), timer = timer, strategy = |failure| {
        left.push(failure.remaining());
        Decision::Retry(SECOND)
    })]
    fn fetch(
        timer: &Recorder,
        service: &Service,
        left: &mut Vec<Option<Duration>>,
    ) -> Result<u32, RetryError<Fault>> {
        service.call()
    }

    let _time = testing::virtual_time();
    let (timer, service) = (Recorder::default(), Service::failing(9));
    let mut left = Vec::new();
    let half = SECOND / 2;
    let answer = deadline::within_blocking(half, || fetch(&timer, &service, &mut left));
    assert_eq!(reason(answer), (GiveUpReason::Deadline, 1));
    assert_eq!(left, [Some(half)]);
    // And without one it learns so.
    let bound = Service::failing(1);
    assert_eq!(fetch(&timer, &bound, &mut left).unwrap(), 2);
    assert_eq!(left, [Some(half), None]);
}

/// An attempt that timed out is asked about, and so is one that is cut off never.
#[tokio::test(start_paused = true)]
async fn time_outs() {
    #[retry(timeout = "2s", deadline = "9s", on(_), strategy = |failure| {
        causes.push(failure.cause().to_string());
        Decision::Retry(SECOND)
    })]
    async fn hang(causes: &mut Vec<String>) -> Result<u32, RetryError<String>> {
        std::future::pending().await
    }

    let (start, mut causes) = (tokio::time::Instant::now(), Vec::new());
    // From 0 to 2, from 3 to 5, from 6 to 8, and then nothing fits.
    assert_eq!(reason(hang(&mut causes).await), (GiveUpReason::Deadline, 3));
    assert_eq!(causes, ["the attempt timed out"; 3]);
    assert_eq!(start.elapsed().as_secs(), 8);
}

/// The delay that an error asks for replaces that of the strategy, which may stop all the same.
#[test]
fn what_the_error_asks_for_is_waited_for() {
    #[retry(on(_), retry_after = |fault| SECOND * 10 * fault.0, max_retry_after = "25s", timer = timer, strategy = |failure| {
        assert_eq!(failure.retry_after(), failure.error().map(|fault| SECOND * 10 * fault.0));
        if failure.attempt() == stop { Decision::Stop } else { Decision::Retry(SECOND) }
    })]
    fn fetch(timer: &Recorder, service: &Service, stop: u32) -> Result<u32, RetryError<Fault>> {
        service.call()
    }

    let (timer, service) = (Recorder::default(), Service::failing(9));
    assert_eq!(
        reason(fetch(&timer, &service, 9)),
        (GiveUpReason::RetryAfterTooLong, 3)
    );
    // A half of 10 % more.
    let asked = [SECOND * 10, SECOND * 20].map(|asked| asked.mul_f64(1.05));
    assert_eq!(*timer.sleeps.borrow(), asked);
    let service = Service::failing(9);
    assert_eq!(
        reason(fetch(&timer, &service, 2)),
        (GiveUpReason::Strategy, 2)
    );
}

/// What may not be retried nobody asks about.
#[test]
fn verdicts_come_first() {
    #[retry(idempotent = false, timer = Recorder::default(), strategy = Longer { stop: 3 }, on = |fault: &Fault| match fault.0 {
        1 => Verdict::Refused,
        _ => Verdict::Transient,
    })]
    fn pay(service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }

    #[retry(on(_), except(Fault(2)), timer = Recorder::default(), strategy = ENDLESS)]
    fn fetch(service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }

    #[retry(on(_), idempotent = false, verify = |fault| Some(fault.0 * 10), timer = Recorder::default(), strategy = || unreachable!())]
    fn verified(service: &Service) -> Result<u32, Fault> {
        service.call()
    }

    assert_eq!(
        reason(pay(&Service::failing(9))),
        (GiveUpReason::NotIdempotent, 2)
    );
    assert_eq!(
        reason(fetch(&Service::failing(9))),
        (GiveUpReason::Permanent, 2)
    );
    assert_eq!(verified(&Service::failing(9)), Ok(10));
}

/// What it allows is paid for; what it forbids is not.
#[test]
fn an_empty_budget_ends_it() {
    #[retry(on(_), budget = budget, timer = Recorder::default(), strategy = FOUR)]
    fn fetch(budget: &Budget, service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }

    let budget = Budget::tokens(11).cost(2);
    let service = Service::failing(u32::MAX);
    assert_eq!(
        reason(fetch(&budget, &service)),
        (GiveUpReason::Strategy, 4)
    );
    // 6 tokens are gone, and of 5 two retries are paid.
    assert_eq!(reason(fetch(&budget, &service)), (GiveUpReason::Budget, 3));
}

#[test]
fn an_open_breaker_ends_it() {
    #[retry(on(_), breaker = breaker, timer = Recorder::default(), strategy = ENDLESS)]
    fn fetch(breaker: &Breaker, service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }

    let breaker = Breaker::count_window(3).min_calls(3);
    let service = Service::failing(u32::MAX);
    assert_eq!(
        reason(fetch(&breaker, &service)),
        (GiveUpReason::BreakerOpen, 3)
    );
}

/// Inside a retry of another call there is one attempt, and nobody is asked; with `"multiply"` it is asked anew.
#[test]
fn nested_calls() {
    let (asked, service) = (Cell::new(0), Service::failing(u32::MAX));
    let ask = || {
        asked.set(asked.get() + 1);
        if asked.get() % 2 == 0 {
            Decision::Stop
        } else {
            Decision::Retry(Duration::ZERO)
        }
    };
    let outer = retry_block!(on(_), max = 3, backoff = "none", {
        retry_block!(on(_), strategy = |_| ask(), { service.call() })
    });
    assert_eq!((outer, asked.get()), (Err(Fault(2 + 1 + 1)), 2));
    let outer = retry_block!(on(_), max = 3, backoff = "none", {
        retry_block!(on(_), nested = "multiply", strategy = |_| ask(), {
            service.call()
        })
    });
    assert_eq!((outer, asked.get()), (Err(Fault(4 + 3 * 2)), 2 + 3 * 2));
}

#[test]
fn hooks_see_its_delays() {
    #[retry(on(_), timer = timer, strategy = FOUR, on_retry = |retry| seen.push((retry.attempt(), retry.delay())), fallback = |_| Ok(100))]
    fn fetch(
        timer: &Recorder,
        service: &Service,
        seen: &mut Vec<(u32, Duration)>,
    ) -> Result<u32, Fault> {
        service.call()
    }

    let (timer, mut seen) = (Recorder::default(), Vec::new());
    assert_eq!(fetch(&timer, &Service::failing(9), &mut seen), Ok(100));
    assert_eq!(seen, [(1, SECOND), (2, SECOND * 2), (3, SECOND * 3)]);
}

/// By the seed of the test, in [0, 1), and another each time.
#[test]
fn random_numbers_are_those_of_the_call() {
    #[retry(on(_), strategy = |failure| {
        drawn.extend([failure.random(), failure.random()]);
        if failure.attempt() == 3 { Decision::Stop } else { Decision::Retry(Duration::ZERO) }
    })]
    fn fetch(service: &Service, drawn: &mut Vec<f64>) -> Result<u32, Fault> {
        service.call()
    }

    let run = || {
        let mut drawn = Vec::new();
        let _seed = testing::seed(7);
        assert!(fetch(&Service::failing(9), &mut drawn).is_err());
        drawn
    };
    let drawn = run();
    assert_eq!(drawn, run());
    assert_eq!(drawn.len(), 6);
    assert!(drawn.iter().all(|number| (0.0..1.0).contains(number)));
    assert!(drawn.windows(2).all(|pair| (pair[0] - pair[1]).abs() > 0.0));
}

/// There is no error where an attempt took too long, or its answer was not final.
#[tokio::test(start_paused = true)]
async fn it_sees_an_error_only_where_there_is_one() {
    type Asked = RefCell<Vec<(u32, Option<Fault>)>>;

    #[retry(on(_), timeout = "1s", until = |answer| *answer > 3, strategy = |failure| {
        asked.borrow_mut().push((failure.retry(), failure.error().copied()));
        Decision::Retry(Duration::ZERO)
    })]
    async fn fetch(asked: &Asked, service: &Service) -> Result<u32, RetryError<Fault>> {
        let answer = service.call()?;
        if answer == 2 {
            std::future::pending::<()>().await;
        }
        Ok(answer)
    }

    let (asked, service) = (Asked::default(), Service::failing(1));
    assert_eq!(fetch(&asked, &service).await.ok(), Some(4));
    assert_eq!(*asked.borrow(), [(0, Some(Fault(1))), (1, None), (2, None)]);
}

#[test]
fn a_record_tells_why_it_ended() {
    let record = testing::record();
    let service = Service::failing(9);
    let answer = retry_block!(on(_), strategy = || Decision::Stop, { service.call() });
    assert_eq!(answer, Err(Fault(1)));
    let end = record.calls()[0].end();
    assert_eq!(end, testing::CallEnd::GaveUp(GiveUpReason::Strategy));
    assert_eq!(GiveUpReason::Strategy.as_str(), "strategy");
    assert_eq!(GiveUpReason::Strategy.to_string(), "the strategy said so");
}

/// After the patience, before the deadline: what ends the call anyway it does not hear of.
#[test]
fn it_is_asked_in_its_place() {
    #[retry(on(_), deadline = "10s", retry_after = || wait, timer = Recorder::default(), strategy = || {
        asked.set(asked.get() + 1);
        Decision::Stop
    })]
    fn fetch(
        service: &Service,
        wait: Duration,
        asked: &Cell<u32>,
    ) -> Result<u32, RetryError<Fault>> {
        service.call()
    }

    let (service, asked) = (Service::failing(9), Cell::new(0));
    let long = fetch(&service, SECOND * 100, &asked);
    assert_eq!(
        (reason(long), asked.get()),
        ((GiveUpReason::RetryAfterTooLong, 1), 0)
    );
    let late = fetch(&service, SECOND * 20, &asked);
    assert_eq!(
        (reason(late), asked.get()),
        ((GiveUpReason::Strategy, 1), 1)
    );
}

#[test]
fn its_policy_in_words() {
    let policy = Policy::new().decided();
    assert_eq!(policy.violation(), None);
    let words = "Attempts and delays as its strategy says.";
    assert_eq!(policy.explain().to_string(), words);
    let bound = policy.max(50).deadline(Duration::from_millis(50));
    assert_eq!(bound.violation(), None);
    let words = "Up to 50 attempts; delays as its strategy says; 50 ms for all attempts and delays together.";
    assert_eq!(bound.explain().to_string(), words);
    // In whatever order they are given.
    assert_eq!(Policy::new().max(50).decided().attempts(), Some(50));
}
