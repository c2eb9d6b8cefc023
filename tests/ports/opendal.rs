//! The retry layer of opendal: a service whose every method is retried under the policy of the layer, with an
//! interceptor that learns of retries. Upstream it has a method and a closure of backon for each of 21 operations, and
//! takes the inner writer out of itself while an attempt runs, so that a dropped future leaves it in a bad state.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reattempt::{Jitter, Policy, Retry, RetryError, retry};

type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Permanent,
    Temporary,
    /// Temporary, and retried in vain: nobody above retries it again.
    Persistent,
}

#[derive(Debug, PartialEq, Eq)]
struct Error {
    message: &'static str,
    status: Status,
}

impl Error {
    const fn new(message: &'static str, status: Status) -> Self {
        Self { message, status }
    }

    fn is_temporary(&self) -> bool {
        self.status == Status::Temporary
    }

    /// What a call ended with that was retried in vain, or cut off.
    fn persistent(end: RetryError<Self>) -> Self {
        let late = Self::new("timed out", Status::Temporary);
        let mut error = end.into_last().unwrap_or(late);
        if error.is_temporary() {
            error.status = Status::Persistent;
        }
        error
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Stat,
    Write,
    Close,
}

#[derive(Debug, PartialEq, Eq)]
struct RetryEvent<'a> {
    operation: Operation,
    attempt: u32,
    after: Duration,
    error: Option<&'a Error>,
}

trait RetryInterceptor: Send + Sync + 'static {
    fn intercept(&self, event: &RetryEvent<'_>);
}

trait Access: Sync {
    type Writer: Write;

    fn stat(&self, path: &str) -> impl Future<Output = Result<u64>> + Send;
    fn write(&self, path: &str) -> Self::Writer;
}

trait Write: Send {
    fn write(&mut self, bytes: Arc<[u8]>) -> impl Future<Output = Result<()>> + Send;
    fn close(&mut self) -> impl Future<Output = Result<u64>> + Send;
}

// What follows is the layer.

struct RetryLayer<I> {
    policy: Policy,
    notify: Arc<I>,
}

struct RetryAccessor<A, I> {
    inner: A,
    policy: Policy,
    notify: Arc<I>,
}

struct RetryWriter<W, I> {
    inner: W,
    policy: Policy,
    notify: Arc<I>,
}

impl<I: RetryInterceptor> RetryLayer<I> {
    fn layer<A: Access>(&self, inner: A) -> RetryAccessor<A, I> {
        RetryAccessor {
            inner,
            policy: self.policy,
            notify: Arc::clone(&self.notify),
        }
    }
}

fn report(notify: &impl RetryInterceptor, operation: Operation, retry: &Retry<'_, Error>) {
    notify.intercept(&RetryEvent {
        operation,
        attempt: retry.attempt(),
        after: retry.delay(),
        error: retry.error(),
    });
}

impl<A: Access, I: RetryInterceptor> Access for RetryAccessor<A, I> {
    type Writer = RetryWriter<A::Writer, I>;

    #[retry(
        policy = self.policy,
        on = Error::is_temporary,
        on_retry = |retry| report(&*self.notify, Operation::Stat, retry),
        map_err = Error::persistent
    )]
    async fn stat(&self, path: &str) -> Result<u64> {
        self.inner.stat(path).await
    }

    fn write(&self, path: &str) -> Self::Writer {
        RetryWriter {
            inner: self.inner.write(path),
            policy: self.policy,
            notify: Arc::clone(&self.notify),
        }
    }
}

impl<W: Write, I: RetryInterceptor> Write for RetryWriter<W, I> {
    #[retry(
        policy = self.policy,
        on = Error::is_temporary,
        on_retry = |retry| report(&*self.notify, Operation::Write, retry),
        map_err = Error::persistent
    )]
    async fn write(&mut self, bytes: Arc<[u8]>) -> Result<()> {
        self.inner.write(Arc::clone(&bytes)).await
    }

    #[retry(
        policy = self.policy,
        on = Error::is_temporary,
        on_retry = |retry| report(&*self.notify, Operation::Close, retry),
        map_err = Error::persistent
    )]
    async fn close(&mut self) -> Result<u64> {
        self.inner.close().await
    }
}

// The tests, in the words of upstream.

const DISK_BUSY: Error = Error::new("disk is busy", Status::Temporary);

/// Fails so many times, and then succeeds.
#[derive(Default)]
struct Flaky {
    failures: u32,
    attempts: Arc<AtomicU32>,
}

impl Flaky {
    async fn attempt(&self, error: Error) -> Result<()> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let attempt = self.attempts.fetch_add(1, Ordering::SeqCst);
        if attempt < self.failures {
            return Err(error);
        }
        Ok(())
    }
}

struct Disk(Flaky);

struct DiskWriter {
    flaky: Flaky,
    written: u64,
}

impl Access for Disk {
    type Writer = DiskWriter;

    async fn stat(&self, path: &str) -> Result<u64> {
        let error = match path {
            "hangs" => std::future::pending().await,
            "missing" => Error::new("not found", Status::Permanent),
            _ => DISK_BUSY,
        };
        self.0.attempt(error).await?;
        Ok(7)
    }

    fn write(&self, _: &str) -> DiskWriter {
        let flaky = Flaky {
            failures: self.0.failures,
            attempts: Arc::clone(&self.0.attempts),
        };
        DiskWriter { flaky, written: 0 }
    }
}

impl Write for DiskWriter {
    async fn write(&mut self, bytes: Arc<[u8]>) -> Result<()> {
        self.flaky.attempt(DISK_BUSY).await?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    async fn close(&mut self) -> Result<u64> {
        self.flaky.attempt(DISK_BUSY).await?;
        Ok(self.written)
    }
}

/// Counts, and compares with what it expects.
#[derive(Default)]
struct Counter(AtomicU32);

impl RetryInterceptor for Counter {
    fn intercept(&self, event: &RetryEvent<'_>) {
        let number = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        assert_eq!(event.attempt, number);
        assert_eq!(event.after, Duration::from_secs(1 << (number - 1)));
        assert_eq!(event.error, Some(&DISK_BUSY));
    }
}

fn layered(failures: u32) -> (RetryAccessor<Disk, Counter>, Arc<Counter>, Arc<AtomicU32>) {
    let policy = Policy::new()
        .max(4)
        .base(Duration::from_secs(1))
        .jitter(Jitter::None);
    layered_under(policy, failures)
}

fn layered_under(
    policy: Policy,
    failures: u32,
) -> (RetryAccessor<Disk, Counter>, Arc<Counter>, Arc<AtomicU32>) {
    let notify = Arc::<Counter>::default();
    let flaky = Flaky {
        failures,
        ..Flaky::default()
    };
    let attempts = Arc::clone(&flaky.attempts);
    let layer = RetryLayer {
        policy,
        notify: Arc::clone(&notify),
    };
    (layer.layer(Disk(flaky)), notify, attempts)
}

#[tokio::test(start_paused = true)]
async fn a_temporary_error_is_retried() {
    let (disk, notified, attempts) = layered(3);
    assert_eq!(disk.stat("path").await, Ok(7));
    assert_eq!(attempts.load(Ordering::SeqCst), 4);
    assert_eq!(notified.0.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn one_that_stays_is_persistent() {
    let (disk, notified, attempts) = layered(9);
    let error = disk.stat("path").await.unwrap_err();
    assert_eq!(error, Error::new("disk is busy", Status::Persistent));
    assert_eq!(attempts.load(Ordering::SeqCst), 4);
    assert_eq!(notified.0.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn a_permanent_error_is_not_retried() {
    let (disk, notified, attempts) = layered(9);
    let error = disk.stat("missing").await.unwrap_err();
    assert_eq!(error, Error::new("not found", Status::Permanent));
    assert_eq!(attempts.load(Ordering::SeqCst), 1);
    assert_eq!(notified.0.load(Ordering::SeqCst), 0);
}

/// The policy is that of whoever makes the layer, and so are its limits.
#[tokio::test(start_paused = true)]
async fn a_disk_that_hangs_is_cut_off() {
    let policy = Policy::new().max(1).timeout(Duration::from_secs(1));
    let (disk, ..) = layered_under(policy, 0);
    let error = disk.stat("hangs").await.unwrap_err();
    assert_eq!(error, Error::new("timed out", Status::Persistent));
}

/// Each method of a writer is a call of its own, and what is written is there once.
#[tokio::test(start_paused = true)]
async fn a_writer_writes_each_part_once() {
    let (disk, notified, attempts) = layered(2);
    let mut writer = Access::write(&disk, "path");
    writer.write(Arc::from(*b"Hello, ")).await.unwrap();
    writer.write(Arc::from(*b"World!")).await.unwrap();
    assert_eq!(writer.close().await, Ok(13));
    assert_eq!(attempts.load(Ordering::SeqCst), 5);
    assert_eq!(notified.0.load(Ordering::SeqCst), 2);
}

/// Upstream: "retry layer is in bad state, please make sure future not dropped before ready".
#[tokio::test(start_paused = true)]
async fn a_dropped_future_leaves_the_writer_as_it_was() {
    let (disk, ..) = layered(1);
    let mut writer = Access::write(&disk, "path");
    let part = || Arc::from(*b"part");
    let limit = Duration::from_millis(500);
    tokio::time::timeout(limit, writer.write(part()))
        .await
        .unwrap_err();
    writer.write(part()).await.unwrap();
    assert_eq!(writer.close().await, Ok(4));
}

/// A stack of services is spawned.
#[tokio::test(start_paused = true)]
async fn the_future_can_be_spawned() {
    let (disk, ..) = layered(1);
    let mut writer = Access::write(&disk, "path");
    let written = tokio::spawn(async move {
        writer.write(Arc::from(*b"spawned")).await?;
        writer.close().await
    });
    assert_eq!(written.await.unwrap(), Ok(7));
}
