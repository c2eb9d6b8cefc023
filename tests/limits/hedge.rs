//! Copies of slow attempts, and what pays for them.

use std::cell::Cell;
use std::time::Duration;

use reattempt::{Budget, Policy, RetryError, Verdict, retry, testing};
use tokio::time::{Instant, sleep};

/// A service whose first answers take their time.
async fn ask(calls: &Cell<u32>, slow: u32) -> Result<u32, &'static str> {
    calls.set(calls.get() + 1);
    let call = calls.get();
    if call <= slow {
        sleep(Duration::from_secs(1)).await;
    }
    Ok(call)
}

#[tokio::test(start_paused = true)]
async fn a_budget_pays_for_copies() {
    static TWO: Budget = Budget::per_success(0.001).floor(0.0).initial(2);
    #[retry(max = 1, hedge = "10ms", budget = &TWO, on(_))]
    async fn call(calls: &Cell<u32>) -> Result<u32, &'static str> {
        ask(calls, u32::MAX).await
    }
    for (calls_made, took) in [(2, 1000), (2, 1000), (1, 1000)] {
        let (calls, start) = (Cell::new(0), Instant::now());
        assert!(call(&calls).await.is_ok());
        assert_eq!(calls.get(), calls_made);
        assert_eq!(start.elapsed(), Duration::from_millis(took));
    }
}

/// Half of the tokens of the default budget are for copies: two of four, and 0.3 for each answer.
#[tokio::test(start_paused = true)]
async fn the_default_budget_pays_for_copies() {
    #[retry(max = 2, base = "2s", jitter = "none", hedge = "10ms", on(_))]
    async fn call(calls: &Cell<u32>, fails: bool) -> Result<u32, &'static str> {
        if fails && calls.get() == 0 {
            calls.set(1);
            return Err("down");
        }
        ask(calls, u32::MAX).await
    }
    let _limits = testing::default_budgets(true);
    let mut copies = 0;
    for _ in 0..40 {
        let calls = Cell::new(0);
        assert!(call(&calls, false).await.is_ok());
        copies += calls.get() - 1;
    }
    // Two, 0.3 of 40, and what the seconds bring; the second of a fault is over after the first answer.
    assert!((13..=15).contains(&copies), "{copies}");
    // Retries have the other half.
    for _ in 0..2 {
        assert!(call(&Cell::new(0), true).await.is_ok());
    }
}

/// gRPC's throttling forbids copies as it does retries.
#[tokio::test(start_paused = true)]
async fn an_empty_budget_of_grpc() {
    static GREETER: Budget = Budget::grpc(4, 0.5);
    #[retry(max = 2, base = "1ms", hedge = "10ms", budget = &GREETER, on(_))]
    async fn call(calls: &Cell<u32>, fails: bool) -> Result<u32, &'static str> {
        if fails {
            return Err("down");
        }
        ask(calls, 1).await
    }
    let calls = Cell::new(0);
    assert_eq!(call(&calls, false).await, Ok(2));
    for _ in 0..4 {
        assert!(call(&calls, true).await.is_err());
    }
    calls.set(0);
    assert_eq!((call(&calls, false).await, calls.get()), (Ok(1), 1));
}

/// What must not run twice does not, though only the running program knows.
#[tokio::test(start_paused = true)]
async fn not_of_what_must_not_run_twice() {
    #[retry(policy = policy, hedge = "10ms", on = |_| Verdict::Refused)]
    async fn call(policy: Policy, calls: &Cell<u32>) -> Result<u32, RetryError<&'static str>> {
        ask(calls, 1).await
    }
    for (idempotent, made) in [(true, 2), (false, 1)] {
        let calls = Cell::new(0);
        let answer = call(Policy::new().idempotent(idempotent), &calls).await;
        assert_eq!((answer.ok(), calls.get()), (Some(made), made));
    }
}

/// The quantile is measured for each operation by itself.
#[tokio::test(start_paused = true)]
async fn by_what_was_measured() {
    #[retry(max = 2, hedge = quantile(0.9), on(_))]
    async fn call(calls: &Cell<u32>, millis: u64) -> Result<u32, &'static str> {
        calls.set(calls.get() + 1);
        let made = calls.get();
        sleep(Duration::from_millis(if made == 1 { millis } else { 1 })).await;
        Ok(made)
    }
    // Not before a hundred answers.
    for _ in 0..100 {
        assert_eq!(call(&Cell::new(0), 10).await, Ok(1));
    }
    let start = Instant::now();
    assert_eq!(call(&Cell::new(0), 1000).await, Ok(2));
    let took = start.elapsed();
    assert!((10..20).contains(&took.as_millis()), "{took:?}");
}

/// A constant may be the delay.
#[tokio::test(start_paused = true)]
async fn after_a_constant() {
    const DELAY: Duration = Duration::from_millis(30);
    #[retry(max = 2, hedge = DELAY, on(_))]
    async fn call(calls: &Cell<u32>) -> Result<u32, &'static str> {
        ask(calls, 1).await
    }
    let start = Instant::now();
    assert_eq!(call(&Cell::new(0)).await, Ok(2));
    assert_eq!(start.elapsed(), DELAY);
}

/// A fallback sees an error whose type nobody writes, also when the call was turned away.
#[tokio::test(start_paused = true)]
async fn fallbacks() {
    #[retry(max = 2, base = "1ms", on(_), fallback = |error| if error.kind() == std::io::ErrorKind::NotFound { Ok(0) } else { Err(error) })]
    fn of_the_error(kind: std::io::ErrorKind) -> Result<u32, std::io::Error> {
        Err(kind.into())
    }
    #[retry(max = 2, base = "1ms", on(_), fallback = async |error| other(error.to_string()).await)]
    async fn of_another_service() -> Result<usize, std::io::Error> {
        Err(std::io::ErrorKind::NotFound.into())
    }
    async fn other(text: String) -> Result<usize, std::io::Error> {
        sleep(Duration::from_millis(1)).await;
        Ok(text.len())
    }
    let _time = testing::virtual_time();
    assert_eq!(of_the_error(std::io::ErrorKind::NotFound).ok(), Some(0));
    assert!(of_the_error(std::io::ErrorKind::TimedOut).is_err());
    assert!(of_another_service().await.is_ok_and(|length| length > 3));
}

/// What observers, statistics and the record of a test learn of copies, and nothing where there is none.
#[tokio::test(start_paused = true)]
async fn copies_are_seen() {
    use reattempt::observe::{self, Event};
    use std::sync::{Arc, Mutex};

    #[retry(max = 2, base = "1ms", hedge = reattempt::Hedge::after(Duration::from_millis(10)).max(2), name = "seen::call", on(_))]
    async fn call(calls: &Cell<u32>, slow: u32) -> Result<u32, &'static str> {
        ask(calls, slow).await
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let observer = move |event: &Event<'_>| {
        let line = match event {
            Event::CopyStarted(facts, copy) => format!("{} {copy} started", facts.attempt()),
            Event::HedgeWon(facts, copy) => format!("{} {copy} won", facts.attempt()),
            _ => return,
        };
        kept.lock().unwrap().push(line);
    };
    let record = testing::record();
    observe::scope(Arc::new(observer), async {
        // At once; the second copy; the first of all, which is as slow as its copies.
        assert_eq!(call(&Cell::new(0), 0).await, Ok(1));
        assert_eq!(call(&Cell::new(0), 2).await, Ok(3));
        assert_eq!(call(&Cell::new(0), 9).await, Ok(1));
    })
    .await;
    let seen = seen.lock().unwrap();
    let expected = [
        "1 1 started",
        "1 2 started",
        "1 2 won",
        "1 1 started",
        "1 2 started",
        "1 0 won",
    ];
    assert_eq!(*seen, expected);
    record.assert(
        "
        seen::call
          1. 2 copies, copy 2 answered
          1. succeeded
        seen::call
          1. 2 copies, the first answered
          1. succeeded
        ",
    );
    let calls = record.calls();
    let hedges: Vec<_> = calls
        .iter()
        .flat_map(testing::RecordedCall::hedges)
        .collect();
    assert_eq!((hedges[0].copies(), hedges[0].winner()), (2, Some(2)));
    assert_eq!((hedges[1].copies(), hedges[1].winner()), (2, Some(0)));
    let stats = observe::stats();
    let stats = stats.operation("seen::call").unwrap();
    assert_eq!(
        (stats.copies(), stats.copies_won(), stats.calls()),
        (4, 1, 0)
    );
}

/// A success before a copy is due leaves no trace, and an error that each of them answers with is nobody's.
#[tokio::test(start_paused = true)]
async fn where_no_copy_wins() {
    #[retry(max = 1, hedge = "10ms", name = "nobody::call", on(_))]
    async fn call(millis: u64, answer: Result<(), u8>) -> Result<(), u8> {
        sleep(Duration::from_millis(millis)).await;
        answer
    }
    let record = testing::record();
    assert_eq!(call(5, Ok(())).await, Ok(()));
    assert_eq!(call(50, Err(1)).await, Err(1));
    record.assert(
        "
        nobody::call
          1. 1 copy, none answered
          1. failed (transient), gave up (attempts)
        ",
    );
}
