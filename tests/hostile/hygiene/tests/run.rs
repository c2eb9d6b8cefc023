//! They do what they say.

use std::cell::Cell;

use hostile_hygiene::functions::Fault;
use hostile_hygiene::{blocks, functions, futures, methods};

fn text() -> String {
    "x".to_owned()
}

#[test]
fn functions_retry() {
    let (calls, seen, before) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let answer = functions::every_key(&calls, &seen, &before, 1, 2, 3, 4, 5, text());
    assert_eq!(answer, Ok(20));
    assert_eq!((calls.get(), seen.get(), before.get()), (3, 3, 3));
    let answer = functions::parameters_in_hooks(&seen, 1, 1, 1, 1, 1, 1);
    assert_eq!((answer, seen.get()), (Err(Fault::Busy), 8));
    let asked = Cell::new(0);
    assert_eq!(
        functions::parameters_in_a_strategy(&asked, 1, 2),
        Err(Fault::Busy)
    );
    assert_eq!(asked.get(), 3 * 3);
    assert_eq!(functions::classified(0), Err(Fault::Wrong));
    assert_eq!(functions::constants(1), Ok(1));
    assert_eq!(functions::shared(1), Ok(1));
    let policy = reattempt::Policy::new()
        .max(3)
        .backoff(reattempt::Backoff::None);
    let calls = Cell::new(0);
    assert_eq!(functions::at_run_time(&policy, &calls), Err(Fault::Busy));
    assert_eq!(calls.get(), 3);
    assert_eq!(functions::mapped(7), Err((7, 2)));
    assert_eq!(functions::own_backoff(), None);
    assert_eq!(functions::polled(1, 2), 3);
    assert_eq!(functions::failed(0).map_err(|e| e.attempts()), Err(2));
    assert_eq!(functions::own_timer(reattempt::timer::ThreadTimer), Ok(()));
    assert_eq!(functions::generic(&[1, 2], |&s: &()| s, &()), Ok(&1));
}

#[tokio::test(start_paused = true)]
async fn futures_retry() {
    let (calls, seen, before) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let answer = futures::every_key(&calls, &seen, &before, 1, 2, 3, 4, 5, true, text()).await;
    assert_eq!(answer, Ok(20));
    assert_eq!((calls.get(), seen.get(), before.get()), (3, 3, 3));
    let calls = Cell::new(0);
    assert_eq!(futures::classified(&calls).await, Err(Fault::Busy));
    assert_eq!(calls.get(), 2);
    assert_eq!(futures::sync_hooks(&calls).await, Ok(()));
    assert_eq!(calls.get(), 7);
    assert_eq!(futures::polled(9, &calls).await, 9);
    let calls = Cell::new(0);
    assert_eq!(futures::uncut(&calls).await, Err(2));
    assert_eq!(futures::answered(7, &calls).await, Ok(7));
    assert_eq!((calls.get(), futures::mapped(7).await), (4, Err(2)));
    for call in [0, 1] {
        let calls = Cell::new(0);
        let answer = match call {
            0 => futures::returned(&calls).await,
            _ => futures::boxed(&calls).await,
        };
        assert_eq!((answer, calls.get()), (Err(Fault::Busy), 2));
    }
    assert_eq!(futures::failed(0).await.map_err(|e| e.attempts()), Err(2));
}

#[tokio::test(start_paused = true)]
async fn methods_retry() {
    let mut service = methods::Service { calls: 0 };
    assert_eq!(service.exclusive(), Ok(3));
    assert_eq!(service.associated(), Ok(3));
    assert_eq!(service.asynchronous().await, Err(Fault::Busy));
    assert_eq!(methods::Ask::ask(&service), Ok(5));
    assert_eq!(std::sync::Arc::new(service).shared(), Ok(5));
    let mut whole = methods::Whole { calls: 0 };
    assert_eq!(whole.verified(1, 2, 3).ok(), Some(6));
    assert_eq!(whole.inherited(4, 5).await.ok(), Some(9));
    assert_eq!(whole.calls, 3);
}

#[tokio::test(start_paused = true)]
async fn blocks_retry() {
    assert_eq!(blocks::sync(4), Ok(18));
    assert_eq!(blocks::closure(1), Err(Fault::Wrong));
    assert_eq!(blocks::asynchronous(4).await, Ok(10));
}

#[tokio::test(start_paused = true)]
async fn limited_functions_retry() {
    let limits = Cell::new(0);
    assert_eq!(functions::limited(&limits, 3, 4, 5, 6), Ok(18));
    assert_eq!(limits.get(), 24);
    let (budget, breaker) = (
        reattempt::Budget::per_success(0.1),
        reattempt::Breaker::count_window(1),
    );
    assert_eq!(functions::borrowed(&budget, &breaker, 1, 2).await, Ok(3));
}
