//! Every key that is a number or a duration, in every shape of a function.

use std::cell::Cell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use reattempt::testing::{record, virtual_time};
use reattempt::{GaveUp, GiveUpReason, Jitter, RetryError, retry, retry_block};

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

#[derive(Debug, Default)]
struct Client {
    max: u32,
    base: Duration,
    calls: u32,
}

impl Client {
    const FACTOR: f64 = 3.0;

    const fn new(max: u32, base: Duration) -> Self {
        Self {
            max,
            base,
            calls: 0,
        }
    }

    fn call(&mut self) -> Result<(), u32> {
        self.calls += 1;
        Err(self.calls)
    }

    #[retry(max = self.max, base = self.base, jitter = "none", on(_))]
    fn shared(&self, calls: &Cell<u32>) -> Result<(), u32> {
        calls.set(calls.get() + 1);
        Err(calls.get())
    }

    #[retry(max = self.max, base = self.base, jitter = "none", on(_))]
    async fn shared_async(&self, calls: &Cell<u32>) -> Result<(), u32> {
        calls.set(calls.get() + 1);
        Err(calls.get())
    }

    #[retry(max = self.max, base = self.base, jitter = "none", on(_))]
    fn unique(&mut self) -> Result<(), u32> {
        self.call()
    }

    #[retry(max = self.max, base = self.base, factor = Self::FACTOR, jitter = "none", on(_))]
    async fn unique_async(&mut self) -> Result<(), u32> {
        self.call()
    }

    /// Allows one attempt less each time.
    #[retry(max = self.max, base = self.base * 2, jitter = "none", on(_))]
    fn shrinking(&mut self) -> Result<(), u32> {
        self.max -= 1;
        self.call()
    }

    #[retry(max = self.max, deadline = self.base, on(_))]
    async fn until(&mut self) -> Result<(), RetryError<u32>> {
        self.call()?;
        Ok(())
    }
}

#[retry(max = self.max, base = self.base, jitter = "none", on(_))]
impl Client {
    fn in_block(&mut self) -> Result<(), u32> {
        self.call()
    }

    async fn in_block_async(&mut self) -> Result<(), u32> {
        self.call()
    }
}

#[test]
fn a_sync_method_reads_its_fields() {
    let (time, calls) = (virtual_time(), Cell::new(0));
    assert_eq!(Client::new(4, ms(10)).shared(&calls), Err(4));
    assert_eq!(time.elapsed(), ms(70));
    assert_eq!(Client::new(3, ms(100)).unique(), Err(3));
    assert_eq!(time.elapsed(), ms(370));
    assert_eq!(Client::new(2, ms(1000)).in_block(), Err(2));
    assert_eq!(time.elapsed(), ms(1370));
}

#[tokio::test(start_paused = true)]
async fn an_async_method_reads_its_fields() {
    let (start, calls) = (tokio::time::Instant::now(), Cell::new(0));
    assert_eq!(Client::new(4, ms(10)).shared_async(&calls).await, Err(4));
    assert_eq!(start.elapsed(), ms(70));
    assert_eq!(Client::new(3, ms(100)).unique_async().await, Err(3));
    assert_eq!(start.elapsed(), ms(470));
    assert_eq!(Client::new(2, ms(1000)).in_block_async().await, Err(2));
    assert_eq!(start.elapsed(), ms(1470));
    let ended = Client::new(9, ms(20)).until().await.unwrap_err();
    assert!(ended.attempts() < 9 && ended.reason() == GiveUpReason::Deadline);
}

/// Of six attempts, one less after each: the third failure is the last.
#[test]
fn a_place_is_read_after_each_failure() {
    let time = virtual_time();
    assert_eq!(Client::new(6, ms(10)).shrinking(), Err(3));
    assert_eq!(time.elapsed(), ms(60));
}

#[derive(Clone, Copy)]
struct Limits {
    max: usize,
    first: Duration,
    cap: Duration,
    factor: f64,
    jitter: f64,
    wait: Duration,
}

const LIMITS: Limits = Limits {
    max: 5,
    first: ms(1),
    cap: ms(60),
    factor: 4.0,
    jitter: 0.0,
    wait: ms(5),
};

#[retry(
    max = limits.max,
    base = base,
    first = limits.first,
    cap = limits.cap,
    factor = limits.factor,
    jitter = limits.jitter,
    max_retry_after = limits.wait,
    on(_)
)]
fn of_parameters(limits: &Limits, base: Duration) -> Result<(), u32> {
    let _ = (limits, base);
    Err(0)
}

#[retry(max = max, base = base, jitter = Jitter::None, reset_after = reset, deadline = all, on(_))]
fn of_limits(max: u8, base: Duration, reset: Duration, all: Duration) -> Result<(), u32> {
    Err(0)
}

#[test]
fn every_number_and_duration() {
    let record = record();
    let _time = virtual_time();
    of_parameters(&LIMITS, ms(10)).unwrap_err();
    assert_eq!(record.schedule(), [ms(1), ms(31), ms(60), ms(60)]);
    drop(record);
    let record = reattempt::testing::record();
    of_limits(9, ms(10), Duration::from_secs(60), ms(100)).unwrap_err();
    assert_eq!(record.schedule(), [ms(10), ms(20), ms(40)]);
}

#[derive(Debug, PartialEq)]
struct Slow(GiveUpReason);

impl From<GaveUp> for Slow {
    fn from(end: GaveUp) -> Self {
        Self(end.reason())
    }
}

#[retry(max = 2, base = limit, timeout = limit, on(_))]
async fn timed(limit: Duration) -> Result<(), Slow> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_time_out_of_a_parameter() {
    let start = tokio::time::Instant::now();
    assert_eq!(timed(ms(2000)).await, Ok(()));
    assert_eq!(start.elapsed(), ms(1000));
    assert!(timed(ms(100)).await.is_err());
    assert!(start.elapsed() < ms(1400));
}

/// The number of attempts, worked out anew each time.
fn counted(times: &Cell<u32>) -> u32 {
    times.set(times.get() + 1);
    3
}

#[retry(max = counted(times), base = pause(), on(_))]
fn called(times: &Cell<u32>) -> Result<(), u32> {
    Err(0)
}

#[retry(max = counted(times), base = pause(), on(_))]
async fn called_async(times: &Cell<u32>) -> Result<(), u32> {
    Err(0)
}

static LIMIT: LazyLock<u32> = LazyLock::new(|| 2);

#[retry(max = *LIMIT, backoff = "none", on(_))]
fn of_a_static(calls: &Cell<u32>) -> Result<(), u32> {
    calls.set(calls.get() + 1);
    Err(calls.get())
}

#[test]
fn a_static_is_read_when_it_is_needed() {
    assert_eq!(of_a_static(&Cell::new(0)), Err(2));
}

static PAUSES: AtomicU32 = AtomicU32::new(0);

fn pause() -> Duration {
    PAUSES.fetch_add(1, Ordering::Relaxed);
    ms(1)
}

#[tokio::test(start_paused = true)]
async fn what_is_called_is_called_once() {
    let (_time, times) = (virtual_time(), Cell::new(0));
    called(&times).unwrap_err();
    assert_eq!((times.get(), PAUSES.load(Ordering::Relaxed)), (1, 1));
    called_async(&times).await.unwrap_err();
    assert_eq!((times.get(), PAUSES.load(Ordering::Relaxed)), (2, 2));
}

trait HasMax {
    const MAX: u32;
}

struct Two;
impl HasMax for Two {
    const MAX: u32 = 2;
}

#[retry(max = T::MAX, base = base, on(_))]
fn generic<T: HasMax>(base: Duration, calls: &Cell<u32>) -> Result<(), u32> {
    calls.set(calls.get() + 1);
    Err(calls.get())
}

#[retry(max = N, base = base, on(_))]
fn of_a_const_generic<const N: usize>(base: Duration, calls: &Cell<u32>) -> Result<(), u32> {
    calls.set(calls.get() + 1);
    Err(calls.get())
}

#[test]
fn constants_of_generics_stand_beside_them() {
    let _time = virtual_time();
    assert_eq!(generic::<Two>(ms(1), &Cell::new(0)), Err(2));
    assert_eq!(of_a_const_generic::<4>(ms(1), &Cell::new(0)), Err(4));
}

const fn four() -> usize {
    4
}

const SHARE: f64 = 0.0;

#[retry(max = const { four() }, base = ms_of(1), jitter = SHARE, on(_))]
fn forced(calls: &Cell<u32>) -> Result<(), u32> {
    calls.set(calls.get() + 1);
    Err(calls.get())
}

const fn ms_of(number: u64) -> Duration {
    ms(number)
}

#[test]
fn a_block_forces_a_constant() {
    let time = virtual_time();
    assert_eq!(forced(&Cell::new(0)), Err(4));
    assert_eq!(time.elapsed(), ms(7));
}

#[tokio::test(start_paused = true)]
async fn a_block_reads_its_locals() {
    let _time = virtual_time();
    let (max, client) = (2_u32, Client::new(4, ms(1)));
    let mut calls = 0;
    let answer: Result<(), u32> = retry_block!(max = max, base = client.base, on(_), {
        calls += 1;
        Err(calls)
    });
    assert_eq!(answer, Err(2));
    let mut calls = 0;
    let answer: Result<(), u32> =
        retry_block!(max = client.max, base = client.base, on(_), async {
            calls += 1;
            Err(calls)
        })
        .await;
    assert_eq!(answer, Err(4));
}

#[async_trait]
trait Fetch {
    async fn fetch(&mut self) -> Result<(), u32>;
    async fn fetch_outside(&mut self) -> Result<(), u32>;
}

#[async_trait]
impl Fetch for Client {
    #[retry(max = self.max, base = self.base, on(_))]
    async fn fetch(&mut self) -> Result<(), u32> {
        self.call()
    }

    #[retry(max = self.max + 1, base = self.base.max(ms(1)), on(_))]
    async fn fetch_outside(&mut self) -> Result<(), u32> {
        self.call()
    }
}

struct Boxed(Client);

#[retry(max = self.0.max, base = self.0.base, on(_))]
#[async_trait]
impl Fetch for Boxed {
    async fn fetch(&mut self) -> Result<(), u32> {
        self.0.call()
    }

    async fn fetch_outside(&mut self) -> Result<(), u32> {
        self.0.call()
    }
}

#[tokio::test(start_paused = true)]
async fn methods_of_async_traits() {
    assert_eq!(Client::new(2, ms(1)).fetch().await, Err(2));
    assert_eq!(Client::new(2, ms(1)).fetch_outside().await, Err(3));
    assert_eq!(Boxed(Client::new(3, ms(1))).fetch().await, Err(3));
    assert_eq!(Boxed(Client::new(5, ms(1))).fetch_outside().await, Err(5));
}

#[retry(max = max, base = base, on(_))]
fn a_future(max: u32, base: Duration) -> impl Future<Output = Result<(), u32>> {
    let mut calls = 0;
    async move {
        calls += 1;
        Err(calls)
    }
}

#[tokio::test(start_paused = true)]
async fn functions_that_return_a_future() {
    assert_eq!(a_future(3, ms(1)).await, Err(3));
}

/// What only a failure reads costs a future nothing.
#[test]
fn no_value_is_copied_into_a_future() {
    #[retry(max = 4, base = "10ms", jitter = "none", on(_))]
    async fn constant(client: &mut Client) -> Result<(), u32> {
        client.call()
    }
    #[retry(max = client.max, base = client.base, jitter = "none", on(_))]
    async fn running(client: &mut Client) -> Result<(), u32> {
        client.call()
    }
    let (mut one, mut other) = (Client::default(), Client::default());
    let (constant, running) = (constant(&mut one), running(&mut other));
    assert_eq!(size_of_val(&constant), size_of_val(&running));
}
