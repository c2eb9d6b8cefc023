//! What a failed call keeps for its events goes with the call, however that ends.

use std::cell::Cell;
use std::future::{Future, Pending, Ready, pending, ready as at_once};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use reattempt::observe::{self, Event};
use reattempt::timer::{BlockingTimer, Clock, Timer, Timestamp};
use reattempt::{Policy, RetryError, retry, retry_block};

use crate::allocator::kept;

/// A timer that does not wait, or for ever.
#[derive(Debug, Clone, Copy)]
struct Ends<const ENDS: bool>;

impl<const ENDS: bool> Clock for Ends<ENDS> {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(1))
    }
}

impl<const ENDS: bool> BlockingTimer for Ends<ENDS> {
    fn sleep(&self, _: Duration) {}
}

impl Timer for Ends<true> {
    type Sleep = Ready<()>;

    fn sleep(&self, _: Duration) -> Ready<()> {
        at_once(())
    }
}

impl Timer for Ends<false> {
    type Sleep = Pending<()>;

    fn sleep(&self, _: Duration) -> Pending<()> {
        pending()
    }
}

/// It fails so often, and then answers.
struct Service(Cell<u32>);

impl Service {
    fn answer(&self) -> Result<u32, String> {
        let Some(left) = self.0.get().checked_sub(1) else {
            return Ok(7);
        };
        self.0.set(left);
        Err("a text that says what was wrong".to_owned())
    }
}

#[retry(max = 4, timer = Ends::<true>, on(_))]
fn sync(service: &Service) -> Result<u32, String> {
    service.answer()
}

#[retry(max = 4, timer = Ends::<true>, until = |_: &u32| false, on(_))]
fn polling(service: &Service) -> Result<u32, RetryError<String>> {
    service.answer()
}

#[retry(max = 4, timer = Ends::<true>, on(_))]
async fn asynchronous(service: &Service) -> Result<u32, String> {
    service.answer()
}

#[retry(max = 4, timer = Ends::<true>, timeout = "1h", deadline = "2h", history, on(_))]
async fn limited(service: &Service) -> Result<u32, RetryError<String>> {
    service.answer()
}

#[retry(max = 4, timer = Ends::<false>, on(_))]
async fn dropped(service: &Service) -> Result<u32, String> {
    service.answer()
}

/// Polls it once, and drops it.
fn begin<R>(call: impl Future<Output = R>) {
    let mut context = Context::from_waker(Waker::noop());
    let _answer = pin!(call).poll(&mut context).is_ready();
}

const POLICY: Policy = Policy::new().max(4);

/// A shape, and a call of it.
type Call<'s> = (&'static str, Box<dyn Fn() + 's>);

/// A call of each shape.
fn calls(service: &Service) -> [Call<'_>; 9] {
    let runner = POLICY.on(|_: &String| true);
    let (ends, waits) = (runner.timer(Ends::<true>), runner.timer(Ends::<false>));
    [
        ("sync", Box::new(|| drop(sync(service)))),
        ("polling", Box::new(|| drop(polling(service)))),
        ("async", Box::new(|| begin(asynchronous(service)))),
        ("limited", Box::new(|| begin(limited(service)))),
        ("dropped", Box::new(|| begin(dropped(service)))),
        ("run", Box::new(move || drop(ends.run(|| service.answer())))),
        (
            "run_async",
            Box::new(move || begin(ends.try_run_async(async || service.answer()))),
        ),
        (
            "dropped run",
            Box::new(move || begin(waits.try_run_async(async || service.answer()))),
        ),
        (
            "block",
            Box::new(|| {
                let answer: Result<u32, String> =
                    retry_block!(max = 4, timer = Ends::<true>, on(_), { service.answer() });
                drop(answer);
            }),
        ),
    ]
}

/// Tables of the process grow now and then; what a call leaves behind, each leaves behind.
#[test]
fn what_is_kept_for_events() {
    let observer: Arc<dyn observe::Observer> = Arc::new(|_: &Event<'_>| ());
    observe::scope_blocking(observer, || {
        let service = Service(Cell::default());
        for (name, call) in calls(&service) {
            for failures in [0, 1, 2, 9] {
                let rounds = (0..50).map(|_| {
                    service.0.set(failures);
                    kept(&call)
                });
                let bytes = rounds.min();
                assert_eq!(bytes, Some(0), "{name} after {failures} failures");
            }
        }
    });
}
