//! The future of a retried function can be sent if that of the function as written can.

use std::cell::Cell;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

use reattempt::overload::breaker::State;
use reattempt::overload::throttle::Throttle;
use reattempt::{Breaker, GaveUp, RetryError, Verdict, Verified, retry};

use crate::{Script, sendable};

/// It can be sent, but not shared.
type Boxed = Box<dyn Error + Send>;

static BREAKER: Breaker = Breaker::count_window(1000);

async fn refresh() {
    tokio::task::yield_now().await;
}

/// The error can be sent, but not shared.
#[derive(Debug)]
struct Unshared(Cell<u32>);

impl From<GaveUp> for Unshared {
    fn from(end: GaveUp) -> Self {
        Self(Cell::new(end.attempts()))
    }
}

async fn step(script: &Script) -> Result<u32, Unshared> {
    let stepped = script.step_async().await;
    stepped.map_err(|fault| Unshared(Cell::new(fault.0)))
}

#[retry(max = 3, on(_), before_retry = async |_| refresh().await)]
async fn before_retry(script: &Script) -> Result<u32, Unshared> {
    step(script).await
}

#[retry(max = 3, on(_), before_retry = async || refresh().await)]
async fn before_retry_without_parameter(script: &Script) -> Result<u32, Boxed> {
    let stepped = step(script).await;
    stepped.map_err(|Unshared(at)| -> Boxed { Box::new(crate::Fault(at.get())) })
}

#[retry(max = 3, on(_), before_retry = |_| refresh(), on_retry = |retry| assert!(retry.error().is_some()))]
async fn before_retry_gives_a_future(script: &Script) -> Result<u32, Unshared> {
    step(script).await
}

async fn found(at: u32) -> Verified<u32> {
    refresh().await;
    if at == 3 {
        Verified::Done(300)
    } else {
        Verified::NotDone
    }
}

#[retry(max = 9, on = |_| Verdict::Transient, idempotent = false, verify = async |_| found(script.attempts()).await)]
async fn verify(script: &Script) -> Result<u32, Unshared> {
    step(script).await
}

#[retry(
    max = 9,
    on = |_| Verdict::Transient,
    idempotent = false,
    verify = |_| found(script.attempts()),
    breaker = &BREAKER,
    deadline = "1h",
    timeout = "1m"
)]
async fn verify_with_limits(script: &Script) -> Result<u32, Unshared> {
    step(script).await
}

#[retry(max = 3, on(_), breaker = &BREAKER)]
async fn breaker(script: &Script) -> Result<u32, Unshared> {
    step(script).await
}

#[retry(max = 3, on(_), breaker = &BREAKER, on_retry = |retry| assert!(retry.error().is_some()))]
async fn breaker_and_on_retry(script: &Script) -> Result<u32, RetryError<Unshared>> {
    step(script).await
}

#[retry(max = 3, on(_), throttle = limit, deadline = "1h", timeout = "1m", before_retry = async |_| refresh().await)]
async fn throttle(script: &Script, limit: &Throttle) -> Result<u32, Unshared> {
    step(script).await
}

#[tokio::test(start_paused = true)]
async fn an_error_that_cannot_be_shared() {
    let limit = Throttle::adaptive();
    let script = || Script::failing(2);
    let failing = || Script::failing(9);
    assert_eq!(sendable(verify(&failing())).await.ok(), Some(300));
    let limited = sendable(verify_with_limits(&failing())).await;
    assert_eq!(limited.ok(), Some(300));
    assert_eq!(sendable(before_retry(&script())).await.ok(), Some(3));
    assert_eq!(
        sendable(before_retry_without_parameter(&script()))
            .await
            .ok(),
        Some(3)
    );
    assert_eq!(
        sendable(before_retry_gives_a_future(&script())).await.ok(),
        Some(3)
    );
    assert_eq!(sendable(breaker(&script())).await.ok(), Some(3));
    assert_eq!(
        sendable(breaker_and_on_retry(&script())).await.ok(),
        Some(3)
    );
    assert_eq!(sendable(throttle(&script(), &limit)).await.ok(), Some(3));
}

/// It can be sent, but not shared.
struct Counter(Cell<u32>);

impl Counter {
    fn count(&self) {
        self.0.set(self.0.get() + 1);
    }
}

#[retry(max = 3, on(_))]
async fn by_value(script: Script, counter: Counter) -> Result<u32, crate::Fault> {
    counter.count();
    let stepped = script.step_async().await;
    assert_eq!(counter.0.get(), script.attempts());
    stepped
}

#[retry(max = 3, on(_), deadline = "1h", timeout = "1m", until = |value| *value > 0)]
async fn by_value_and_limited(script: Script, cell: Cell<u32>) -> Result<u32, Unshared> {
    cell.set(cell.get() + 1);
    step(&script).await
}

struct Client;

#[retry(max = 3, on(_))]
impl Client {
    async fn method(&self, script: Script, cell: Cell<u32>) -> Result<u32, crate::Fault> {
        cell.set(cell.get() + 1);
        script.step_async().await
    }
}

#[retry(max = 3, on(_))]
async fn in_a_pattern(
    (script, counter): (Script, Counter),
    Named { cell, .. }: Named,
) -> Result<u32, crate::Fault> {
    counter.count();
    cell.set(cell.get() + 1);
    let stepped = script.step_async().await;
    assert_eq!(
        (counter.0.get(), cell.get()),
        (script.attempts(), script.attempts())
    );
    stepped
}

struct Named {
    cell: Cell<u32>,
    _name: &'static str,
}

/// As a connection is.
struct Connection {
    script: Script,
    counter: Counter,
}

impl Connection {
    #[retry(max = 3, on(_))]
    async fn consumed(self) -> Result<u32, crate::Fault> {
        self.counter.count();
        let stepped = self.script.step_async().await;
        assert_eq!(self.counter.0.get(), self.script.attempts());
        stepped
    }

    #[retry(max = 3, on(_), deadline = "1h", until = |value| *value > 0)]
    async fn boxed(self: Box<Self>) -> Result<u32, Unshared> {
        self.counter.count();
        step(&self.script).await
    }

    #[retry(max = 3, on(_))]
    #[tracing::instrument(skip_all)]
    async fn instrumented(self, cell: Cell<u32>) -> Result<u32, crate::Fault> {
        self.counter.count();
        cell.set(cell.get() + 1);
        self.script.step_async().await
    }
}

#[async_trait::async_trait]
trait Consumed {
    async fn taken(self, cell: Cell<u32>) -> Result<u32, crate::Fault>;
}

#[async_trait::async_trait]
impl Consumed for Connection {
    #[retry(max = 3, on(_))]
    async fn taken(self, cell: Cell<u32>) -> Result<u32, crate::Fault> {
        self.counter.count();
        cell.set(cell.get() + 1);
        self.script.step_async().await
    }
}

impl Connection {
    // Nothing of `self` changes, and yet nobody else has it.
    #[retry(max = 3, on(_))]
    async fn only_read(&mut self, cell: &mut Cell<u32>) -> Result<u32, crate::Fault> {
        self.counter.count();
        cell.set(cell.get() + 1);
        self.script.step_async().await
    }

    // A key reads a part of it meanwhile.
    #[retry(max = 3, on(_), before_retry = |_| self.counter.count())]
    async fn named_by_a_key(&mut self) -> Result<u32, crate::Fault> {
        self.counter.count();
        self.script.step_async().await
    }

    // Two answers may borrow it at the same time.
    #[retry(max = 3, on(_))]
    async fn borrowed(&mut self) -> Result<&Script, crate::Fault> {
        self.script.step_async().await?;
        Ok(&self.script)
    }
}

// The original of a copy is there for this call alone.
#[retry(max = 3, on(_), clone(counter))]
async fn copied<C: Clone>(script: Script, counter: C) -> Result<u32, crate::Fault> {
    let number = script.step_async().await?;
    drop(counter);
    Ok(number)
}

// A block that takes it all has nobody beside it.
#[retry(max = 3, on(_))]
fn in_a_block(script: Script, cell: Cell<u32>) -> impl Future<Output = Result<u32, crate::Fault>> {
    async move {
        cell.set(cell.get() + 1);
        script.step_async().await
    }
}

#[retry(max = 3, on(_))]
fn in_a_box<'a>(
    script: &'a Script,
    cell: &'a mut Counter,
) -> futures::future::BoxFuture<'a, Result<u32, crate::Fault>> {
    Box::pin(async move {
        cell.count();
        script.step_async().await
    })
}

// Another part of it stands in front of the block.
#[retry(max = 3, on(_))]
fn taken_apart(pair: (Script, String)) -> impl Future<Output = Result<u32, crate::Fault>> {
    let script = pair.0;
    async move {
        let _ = pair.1.len();
        script.step_async().await
    }
}

#[async_trait::async_trait]
trait Read {
    async fn boxed_read(&mut self) -> Result<u32, crate::Fault>;
}

#[async_trait::async_trait]
impl Read for Connection {
    #[retry(max = 3, on(_))]
    async fn boxed_read(&mut self) -> Result<u32, crate::Fault> {
        self.counter.count();
        self.script.step_async().await
    }
}

/// What a key reads meanwhile is shared as before, and so is what copies of an attempt use.
#[retry(max = 3, on(_), breaker = &breaker, on_retry = |_| seen.store(1, SeqCst))]
async fn shared_with_keys(
    script: Script,
    breaker: Arc<Breaker>,
    seen: Arc<AtomicU32>,
) -> Result<u32, Unshared> {
    assert_eq!(breaker.state(), State::Closed);
    let _seen = seen.load(SeqCst);
    step(&script).await
}

#[retry(max = 3, on(_), hedge = "1h")]
async fn hedged(script: Script, limits: Vec<u32>) -> Result<u32, crate::Fault> {
    assert!(limits.is_empty());
    script.step_async().await
}

#[tokio::test(start_paused = true)]
async fn a_parameter_that_cannot_be_shared() {
    let script = || Script::failing(2);
    let counter = Counter(Cell::new(0));
    assert_eq!(sendable(by_value(script(), counter)).await, Ok(3));
    let cell = || Cell::new(0);
    let limited = sendable(by_value_and_limited(script(), cell()));
    assert_eq!(limited.await.ok(), Some(3));
    assert_eq!(sendable(Client.method(script(), cell())).await, Ok(3));
    let named = Named {
        cell: cell(),
        _name: "cell",
    };
    let counter = Counter(Cell::new(0));
    assert_eq!(
        sendable(in_a_pattern((script(), counter), named)).await,
        Ok(3)
    );
    let connection = || Connection {
        script: script(),
        counter: Counter(Cell::new(0)),
    };
    assert_eq!(sendable(connection().consumed()).await, Ok(3));
    assert_eq!(sendable(Box::new(connection()).boxed()).await.ok(), Some(3));
    assert_eq!(sendable(connection().instrumented(cell())).await, Ok(3));
    assert_eq!(sendable(connection().taken(cell())).await, Ok(3));
    let mut cell = cell();
    assert_eq!(sendable(connection().only_read(&mut cell)).await, Ok(3));
    assert_eq!(sendable(copied(script(), Cell::new(0))).await, Ok(3));
    assert_eq!(sendable(in_a_block(script(), Cell::new(0))).await, Ok(3));
    let (script_of_box, mut counter) = (script(), Counter(Cell::new(0)));
    assert_eq!(
        sendable(in_a_box(&script_of_box, &mut counter)).await,
        Ok(3)
    );
    let pair = (script(), String::new());
    assert_eq!(sendable(taken_apart(pair)).await, Ok(3));
    assert_eq!(sendable(connection().boxed_read()).await, Ok(3));
    let mut connection = connection();
    assert_eq!(connection.borrowed().await.map(Script::attempts), Ok(3));
    assert_eq!(connection.named_by_a_key().await, Ok(4));
    let shared = shared_with_keys(script(), Arc::new(Breaker::count_window(9)), Arc::default());
    assert_eq!(sendable(shared).await.ok(), Some(3));
    assert_eq!(sendable(hedged(script(), Vec::new())).await, Ok(3));
}
