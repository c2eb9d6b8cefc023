//! Streams that are opened again when they fail.

use std::cell::{Cell, RefCell};
use std::future;
use std::io::{Error, ErrorKind};
use std::pin::{Pin, pin};
use std::time::Duration;

use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use reattempt::runner::resume;
use reattempt::{Backoff, Policy};
use tokio::time::{Instant, sleep};

const FEED: Policy = Policy::new().max(3);

fn broken() -> Error {
    Error::from(ErrorKind::ConnectionReset)
}

/// Ten numbers, of which each connection brings so many.
fn numbers(after: u32, each: usize) -> impl Stream<Item = Result<u32, Error>> {
    let rest = (after + 1..=10).take(each).map(Ok);
    let is_last = usize::try_from(10 - after).expect("few") <= each;
    stream::iter(rest.chain((!is_last).then(|| Err(broken()))))
}

async fn all<E>(items: impl Stream<Item = Result<u32, E>>) -> (Vec<u32>, Option<E>) {
    let mut items = pin!(items);
    let mut seen = Vec::new();
    while let Some(item) = items.next().await {
        match item {
            Ok(item) => seen.push(item),
            Err(error) => return (seen, Some(error)),
        }
    }
    (seen, None)
}

#[tokio::test(start_paused = true)]
async fn it_goes_on_at_the_cursor() {
    for each in 1..=11 {
        let opened = RefCell::new(Vec::new());
        let open = |seen: &u32| {
            opened.borrow_mut().push(*seen);
            numbers(*seen, each)
        };
        let (seen, error) = all(resume(FEED.runner(), 0, open, |at, item| *at = *item)).await;
        assert!(
            error.is_none() && seen.iter().copied().eq(1..=10),
            "{each}: {seen:?}"
        );
        assert!(opened.borrow().is_sorted() && opened.borrow()[0] == 0);
    }
}

/// A cursor that stays lets the service begin anew each time.
#[tokio::test(start_paused = true)]
async fn an_item_lets_the_attempts_begin_anew() {
    let opened = Cell::new(0);
    let open = |(): &()| {
        opened.set(opened.get() + 1);
        numbers(0, 1)
    };
    let items = resume(FEED.runner(), (), open, |(), _| {});
    let twenty: Vec<u32> = items.take(20).try_collect().await.expect("it goes on");
    assert_eq!((twenty, opened.get()), (vec![1; 20], 20));
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_gives_up_ends_it() {
    let opened = Cell::new(0);
    let open = |seen: &u32| {
        opened.set(opened.get() + 1);
        numbers(*seen, usize::from(*seen < 5))
    };
    let (seen, error) = all(resume(FEED.runner(), 0, open, |at, item| *at = *item)).await;
    assert_eq!(seen, [1, 2, 3, 4, 5]);
    assert_eq!(
        error.expect("it gives up").kind(),
        ErrorKind::ConnectionReset
    );
    // The attempt that has failed after the last item, and two retries.
    assert_eq!(opened.get(), 5 + 2);

    let mut items = pin!(resume(FEED.runner(), 0, |_| numbers(0, 0), |_, _| {}));
    assert!(items.next().await.is_some_and(|item| item.is_err()));
    for _ in 0..2 {
        assert!(items.next().await.is_none(), "an error is the last item");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_is_not_retried_ends_it_at_once() {
    let opened = Cell::new(0);
    let open = |_: &u32| {
        opened.set(opened.get() + 1);
        stream::iter([Ok(1), Err("gone"), Ok(2)].map(|item| item.map_err(Error::other)))
    };
    let runner = FEED.on(|error: &Error| error.kind() == ErrorKind::TimedOut);
    let (seen, error) = all(resume(runner, 0, open, |_, _| {})).await;
    assert_eq!((seen, opened.get()), (vec![1], 1));
    assert_eq!(error.expect("the error").to_string(), "gone");
}

#[tokio::test(start_paused = true)]
async fn the_limits_are_those_of_an_item() {
    const POLICY: Policy = Policy::new()
        .max(3)
        .backoff(Backoff::Fixed)
        .base(Duration::from_secs(1))
        .jitter(reattempt::Jitter::None)
        .timeout(Duration::from_secs(10));
    // A second for each number, and the third connection hangs at its second.
    let opened = Cell::new(0);
    let open = |seen: &u32| {
        opened.set(opened.get() + 1);
        let hangs = opened.get() == 2;
        numbers(*seen, 5).then(move |item| async move {
            sleep(Duration::from_secs(1)).await;
            if hangs && item.as_ref().is_ok_and(|item| *item == 7) {
                future::pending::<()>().await;
            }
            item
        })
    };
    let began = Instant::now();
    let (seen, error) = all(resume(POLICY.runner(), 0, open, |at, item| *at = *item)).await;
    assert!(error.is_none() && seen.into_iter().eq(1..=10));
    assert_eq!(opened.get(), 3);
    // Ten numbers and an error, the time-out, and two delays.
    assert_eq!(began.elapsed(), Duration::from_secs(11 + 10 + 2));
}

/// What is dropped is the future of an item, not the stream.
#[tokio::test(start_paused = true)]
async fn a_dropped_wait_loses_nothing() {
    let slow = |seen: &u32| {
        numbers(*seen, 2).then(async |item| {
            sleep(Duration::from_millis(7)).await;
            item
        })
    };
    let mut items = pin!(resume(FEED.runner(), 0, slow, |at, item| *at = *item));
    let mut seen = Vec::new();
    let mut dropped = 0;
    loop {
        tokio::select! {
            item = items.next() => match item {
                Some(item) => seen.push(item.expect("it goes on")),
                None => break,
            },
            () = sleep(Duration::from_millis(2)) => dropped += 1,
        }
    }
    assert!(seen.into_iter().eq(1..=10) && dropped >= 30, "{dropped}");
}

#[tokio::test(start_paused = true)]
async fn it_can_be_spawned_and_boxed() {
    let open =
        |seen: &u32| -> Pin<Box<dyn Stream<Item = _> + Send>> { Box::pin(numbers(*seen, 3)) };
    let items: BoxStream<'_, _> = resume(FEED.runner(), 0, open, |at, item| *at = *item).boxed();
    let all = tokio::spawn(items.try_collect::<Vec<u32>>());
    assert_eq!(all.await.expect("no panic").expect("it goes on").len(), 10);
}
