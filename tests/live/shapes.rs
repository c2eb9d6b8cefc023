//! Where `policy = "name"` may stand.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;

use reattempt::{
    Breaker, Budget, GiveUpReason, RetryError, Throttle, Verified, retry, retry_block,
};

use crate::support::{Local, install, sync_turn, turn};

/// Five attempts, where the code says two.
const FIVE: &str = "[policies.shapes]\nmax = 5\n";

#[retry(policy = "shapes", max = 2, on(_))]
fn sync(calls: &Cell<u32>) -> Result<(), String> {
    calls.set(calls.get() + 1);
    Err("no".to_owned())
}

#[retry(policy = "shapes", cut_off = false, max = 2, on(_))]
async fn asynchronous(calls: &Cell<u32>) -> Result<(), String> {
    calls.set(calls.get() + 1);
    Err("no".to_owned())
}

#[retry(policy = "shapes", max = 2, on(_))]
fn generic<T: Copy, const N: u32>(calls: &Cell<u32>, error: T) -> Result<(), T> {
    calls.set(calls.get() + N);
    Err(error)
}

#[retry(policy = "shapes", cut_off = false, max = 2, on(_))]
async fn generic_async<T: Copy, const N: u32>(calls: &Cell<u32>, error: T) -> Result<(), T> {
    calls.set(calls.get() + N);
    Err(error)
}

#[expect(clippy::manual_async_fn, reason = "the shape is under test")]
#[retry(policy = "shapes", cut_off = false, max = 2, on(_))]
fn future(calls: &Cell<u32>) -> impl Future<Output = Result<(), String>> {
    async move {
        calls.set(calls.get() + 1);
        Err("no".to_owned())
    }
}

#[retry(policy = "shapes", cut_off = false, max = 2, on(_))]
fn boxed(calls: &Cell<u32>) -> Pin<Box<dyn Future<Output = Result<(), String>> + '_>> {
    Box::pin(async move {
        calls.set(calls.get() + 1);
        Err("no".to_owned())
    })
}

#[retry(policy = "shapes", cut_off = false, max = 2, on(_))]
async fn local(calls: &Cell<u32>) -> Result<(), Local> {
    calls.set(calls.get() + 1);
    Err(Local::new())
}

#[retry(policy = "shapes", cut_off = false, max = 2, on(_))]
async fn opaque(calls: &Cell<u32>) -> Result<(), impl std::fmt::Debug + use<>> {
    calls.set(calls.get() + 1);
    Err::<(), _>("no".to_owned())
}

#[retry(policy = "shapes", max = 2, on(_))]
async fn option(calls: &Cell<u32>) -> Option<u8> {
    calls.set(calls.get() + 1);
    None
}

#[retry(policy = "shapes", max = 2, on(_))]
async fn observed(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    calls.set(calls.get() + 1);
    Err("no".to_owned())
}

#[retry(policy = "shapes", max = 2, until = |value: &u32| *value == 9)]
fn polled(calls: &Cell<u32>) -> u32 {
    calls.set(calls.get() + 1);
    calls.get()
}

#[retry(policy = "shapes", cut_off = false, max = 2, until = |value: &u32| *value == 9)]
async fn polled_async(calls: &Cell<u32>) -> u32 {
    calls.set(calls.get() + 1);
    calls.get()
}

#[retry(policy = "shapes", max = 2, on(_), context = attempt, on_retry = |_| {}, before_retry = || {}, fallback = |_| ())]
async fn hooked(calls: &Cell<u32>) -> Result<(), String> {
    calls.set(calls.get() + 1);
    Err(attempt.number().to_string())
}

#[retry(policy = "shapes", max = 2, on(_), clone(owned))]
fn cloned(calls: &Cell<u32>, owned: String) -> Result<(), String> {
    calls.set(calls.get() + 1);
    Err(owned)
}

struct Client {
    calls: Cell<u32>,
}

trait Fetch {
    async fn fetch(&mut self) -> Result<(), String>;

    #[retry(policy = "shapes", max = 2, on(_))]
    fn provided(&self, calls: &Cell<u32>) -> Result<(), String> {
        calls.set(calls.get() + 1);
        Err("no".to_owned())
    }
}

impl Fetch for Client {
    #[retry(policy = "shapes", cut_off = false, max = 2, on(_))]
    async fn fetch(&mut self) -> Result<(), String> {
        self.calls.set(self.calls.get() + 1);
        Err("no".to_owned())
    }
}

#[retry(policy = "shapes", cut_off = false, max = 2, on(_))]
impl Client {
    fn first(&self) -> Result<(), String> {
        self.calls.set(self.calls.get() + 1);
        Err("no".to_owned())
    }

    async fn second(&mut self) -> Result<(), String> {
        self.calls.set(self.calls.get() + 1);
        Err("no".to_owned())
    }
}

fn counted<R>(call: impl FnOnce(&Cell<u32>) -> R) -> u32 {
    let calls = Cell::new(0);
    call(&calls);
    calls.get()
}

async fn counted_async(call: impl AsyncFnOnce(&Cell<u32>)) -> u32 {
    let calls = Cell::new(0);
    call(&calls).await;
    calls.get()
}

#[test]
fn sync_shapes_have_the_policy_of_the_file() {
    let (_turn, _time) = sync_turn();
    let all = || {
        let client = Client {
            calls: Cell::new(0),
        };
        let block = counted(|calls| {
            let _: Result<(), &str> = retry_block!(policy = "shapes", max = 2, on(_), {
                calls.set(calls.get() + 1);
                Err("no")
            });
        });
        [
            counted(sync),
            counted(|calls| generic::<u8, 1>(calls, 7)),
            counted(|calls| generic::<&str, 1>(calls, "x")),
            counted(polled),
            counted(|calls| cloned(calls, "x".to_owned())),
            counted(|calls| client.provided(calls)),
            block,
            {
                let _ = client.first();
                client.calls.get()
            },
        ]
    };
    assert_eq!(all(), [2; 8]);
    install(FIVE);
    assert_eq!(all(), [5; 8]);
    install("");
    assert_eq!(all(), [2; 8]);
}

async fn every_async() -> Vec<u32> {
    let mut client = Client {
        calls: Cell::new(0),
    };
    let mut found = vec![
        counted_async(async |calls| drop(asynchronous(calls).await)).await,
        counted_async(async |calls| assert_eq!(generic_async::<u8, 1>(calls, 7).await, Err(7)))
            .await,
        counted_async(async |calls| drop(future(calls).await)).await,
        counted_async(async |calls| drop(boxed(calls).await)).await,
        counted_async(async |calls| drop(local(calls).await)).await,
        counted_async(async |calls| drop(opaque(calls).await)).await,
        counted_async(async |calls| assert_eq!(option(calls).await, None)).await,
        counted_async(async |calls| {
            let end = observed(calls).await.unwrap_err();
            assert_eq!(
                (end.reason(), end.attempts()),
                (GiveUpReason::Attempts, calls.get())
            );
        })
        .await,
        counted_async(async |calls| assert_eq!(polled_async(calls).await, calls.get())).await,
        counted_async(async |calls| assert_eq!(hooked(calls).await, Ok(()))).await,
        counted_async(async |calls| {
            let answer: Result<(), &str> =
                retry_block!(policy = "shapes", cut_off = false, max = 2, on(_), async {
                    calls.set(calls.get() + 1);
                    Err("no")
                })
                .await;
            assert_eq!(answer, Err("no"));
        })
        .await,
    ];
    let _ = client.fetch().await;
    found.push(client.calls.replace(0));
    let _ = client.second().await;
    found.push(client.calls.get());
    found
}

#[tokio::test(start_paused = true)]
async fn async_shapes_have_the_policy_of_the_file() {
    let _turn = turn();
    assert_eq!(every_async().await, [2; 13]);
    install(FIVE);
    assert_eq!(every_async().await, [5; 13]);
}

static BREAKERS: [Breaker; 2] = [Breaker::count_window(100), Breaker::count_window(100)];
static THROTTLES: [Throttle; 2] = [Throttle::adaptive(), Throttle::adaptive()];

#[retry(policy = "shapes", max = 2, on(_), breaker = &BREAKERS[0], throttle = &THROTTLES[0], budget = 0.5)]
fn gated(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    calls.set(calls.get() + 1);
    Err("no".to_owned())
}

#[retry(policy = "shapes", max = 2, on(_), breaker = &BREAKERS[1], throttle = &THROTTLES[1], budget = shared_budget())]
async fn gated_async(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    calls.set(calls.get() + 1);
    Err("no".to_owned())
}

fn shared_budget() -> std::sync::Arc<Budget> {
    std::sync::Arc::new(Budget::tokens(1000))
}

#[retry(policy = "shapes", cut_off = false, max = 2, on(_), hedge = "1h")]
async fn hedged(calls: &Cell<u32>) -> Result<(), String> {
    calls.set(calls.get() + 1);
    Err("no".to_owned())
}

#[retry(policy = "shapes", cut_off = false, max = 2, idempotent = false, verify = |_| Verified::<()>::NotDone, retry_after = |_| None, on(_))]
async fn verified(calls: &Cell<u32>) -> Result<(), String> {
    calls.set(calls.get() + 1);
    Err("no".to_owned())
}

#[retry(policy = "shapes", max = 2, deadline = "1h", timeout = "1m", on(_), until = |()| false)]
async fn limited(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    calls.set(calls.get() + 1);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_else_may_stand_beside_a_name() {
    let _turn = turn();
    for (text, max) in [("", 2), (FIVE, 5)] {
        install(text);
        assert_eq!(counted(gated), max);
        let found = [
            counted_async(async |calls| drop(gated_async(calls).await)).await,
            counted_async(async |calls| drop(hedged(calls).await)).await,
            counted_async(async |calls| drop(verified(calls).await)).await,
            counted_async(async |calls| drop(limited(calls).await)).await,
        ];
        assert_eq!(found, [max; 4]);
    }
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[test]
fn futures_are_sent_as_without_a_name() {
    #[retry(policy = "shapes", cut_off = false, max = 2, on(_))]
    async fn sent(error: String) -> Result<(), String> {
        Err(error.clone())
    }

    #[retry(max = 2, on(_))]
    async fn not_kept() -> Result<(), Local> {
        // What cannot be sent is made and gone before the wait.
        Err(Local::new())
    }

    fn _generic<E: Clone + Send>(error: &E) {
        #[retry(max = 2, on(_))]
        async fn inner<E: Clone>(error: &E) -> Result<(), E> {
            Err(error.clone())
        }
        let _future = inner(error);
    }

    drop(is_send(sent("x".to_owned())));
    drop(is_send(not_kept()));
}
