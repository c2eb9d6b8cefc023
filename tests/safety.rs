//! Operations that must not run twice, policies on `impl` blocks, ready-made
//! policies.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed, and its numbers are small"
)]

use std::cell::{Cell, RefCell};
use std::time::Duration;

use reattempt::{Classify, GiveUpReason, Policy, RetryError, Verdict, Verified, retry};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Classify)]
enum Fault {
    #[retry(transient)]
    Reset,
    #[retry(refused)]
    NotSent,
    #[retry(throttled)]
    Busy,
    #[retry(permanent)]
    Wrong,
}

/// Answers with its faults one after the other, then with the number of calls.
struct Service {
    faults: RefCell<Vec<Fault>>,
    calls: Cell<u32>,
}

impl Service {
    fn failing(faults: &[Fault]) -> Self {
        Self {
            faults: RefCell::new(faults.iter().rev().copied().collect()),
            calls: Cell::new(0),
        }
    }

    fn call(&self) -> Result<u32, Fault> {
        self.calls.set(self.calls.get() + 1);
        self.faults
            .borrow_mut()
            .pop()
            .map_or(Ok(self.calls.get()), Err)
    }
}

/// What proves that nothing was executed is retried, nothing else.
#[test]
fn not_idempotent() {
    #[retry(backoff = "none", idempotent = false)]
    fn post(service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    assert_eq!(
        post(&Service::failing(&[Fault::NotSent, Fault::Busy])),
        Ok(3)
    );
    let service = Service::failing(&[Fault::Reset]);
    let failed = post(&service).expect_err("nobody knows whether it was executed");
    assert_eq!(
        (failed.reason(), failed.attempts(), failed.last()),
        (GiveUpReason::Permanent, 1, Some(&Fault::Reset))
    );
}

/// `verify` is asked about the ambiguous ones, and its answer holds.
#[test]
fn verified() {
    #[retry(backoff = "none", idempotent = false, verify = |_| finding)]
    fn post(service: &Service, finding: Verified<u32>) -> Result<u32, Fault> {
        service.call()
    }
    let lost = || Service::failing(&[Fault::Reset]);
    assert_eq!(post(&lost(), Verified::Done(77)), Ok(77));
    assert_eq!(post(&lost(), Verified::NotDone), Ok(2));
    assert_eq!(post(&lost(), Verified::Unknown), Err(Fault::Reset));
    assert_eq!(
        post(&Service::failing(&[Fault::Wrong]), Verified::Done(77)),
        Err(Fault::Wrong)
    );
}

#[tokio::test(start_paused = true)]
async fn verified_async() {
    #[retry(idempotent = false, verify = async |fault: &Fault| look_up(service, *fault).await)]
    async fn post(service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    async fn look_up(service: &Service, fault: Fault) -> Option<u32> {
        assert_eq!(fault, Fault::Reset);
        tokio::time::sleep(Duration::from_secs(1)).await;
        (service.calls.get() == 2).then_some(99)
    }
    let service = Service::failing(&[Fault::Reset, Fault::Reset]);
    assert_eq!(post(&service).await, Ok(99));
    assert_eq!(service.calls.get(), 2);
}

struct Client {
    service: Service,
}

#[retry(max = 4, backoff = "fixed", base = "1ms")]
impl Client {
    /// A constant is no method.
    const LIMIT: u32 = 9;

    fn new(faults: &[Fault]) -> Self {
        Self {
            service: Service::failing(faults),
        }
    }

    fn get(&self) -> Result<u32, Fault> {
        self.service.call()
    }

    async fn get_later(&mut self) -> Result<u32, RetryError<Fault>> {
        self.service.call()
    }

    /// Its own policy replaces that of the block.
    #[retry(max = 2, backoff = "none")]
    fn get_twice(&self) -> Result<u32, Fault> {
        self.service.call()
    }

    #[retry(never)]
    fn get_once(&self) -> Result<u32, Fault> {
        self.service.call()
    }

    fn calls(&self) -> u32 {
        self.service.calls.get().min(Self::LIMIT)
    }
}

#[tokio::test(start_paused = true)]
async fn impl_block() {
    let mut client = Client::new(&[Fault::Reset; 9]);
    assert!(client.get().is_err());
    assert_eq!(client.calls(), 4);
    assert_eq!(client.get_later().await.expect_err("always").attempts(), 4);
    assert_eq!(client.calls(), 8);
    let client = Client::new(&[Fault::Reset; 9]);
    assert!(client.get_twice().is_err());
    assert_eq!(client.calls(), 2);
    assert!(client.get_once().is_err());
    assert_eq!(client.calls(), 3);
}

/// A policy can be asserted when the program is compiled.
const _: () = {
    let worst = Policy::interactive().worst_case();
    assert!(worst.total_delay().unwrap().as_millis() <= 150);
    assert!(worst.total_time().unwrap().as_secs() == 2);
    assert!(matches!(
        Policy::background().worst_case().attempts(),
        Some(10)
    ));
};

#[test]
fn ready_made_policies_break_no_rule() {
    for policy in [Policy::new(), Policy::interactive(), Policy::background()] {
        assert_eq!(policy.violation(), None);
    }
}

/// One attempt needs nobody who says what would be retried.
#[test]
fn a_single_attempt() {
    #[retry(max = 1)]
    fn once() -> Result<(), String> {
        Err("no".to_owned())
    }
    assert_eq!(once(), Err("no".to_owned()));
    assert_eq!(Verdict::from(true), Verdict::Transient);
}

/// A value that arrived is not ambiguous: polling goes on.
#[test]
fn polling_what_is_not_idempotent() {
    #[retry(backoff = "none", idempotent = false, until = |calls| *calls == 3)]
    fn poll(service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    assert_eq!(poll(&Service::failing(&[])), Ok(3));
}

/// `verify` is not asked where the inherited policy is idempotent.
#[test]
fn verify_beside_an_idempotent_policy() {
    const IDEMPOTENT: Policy = Policy::new().base(Duration::from_nanos(1));
    #[retry(policy = IDEMPOTENT, verify = |_| Verified::Unknown)]
    fn post(service: &Service) -> Result<u32, Fault> {
        service.call()
    }
    assert_eq!(
        post(&Service::failing(&[Fault::Reset, Fault::Reset])),
        Ok(3)
    );
}

/// No attempt starts after the deadline, however long `before_retry` takes.
#[tokio::test(start_paused = true)]
async fn a_slow_hook_ends_the_call() {
    #[retry(base = "1ms", deadline = "1s", before_retry = async |_| nap().await)]
    async fn fetch(service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    async fn nap() {
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
    let service = Service::failing(&[Fault::Reset; 3]);
    let failed = fetch(&service).await.expect_err("out of time");
    assert_eq!(
        (failed.reason(), failed.attempts(), failed.last()),
        (GiveUpReason::Deadline, 1, Some(&Fault::Reset))
    );
    assert_eq!(service.calls.get(), 1);
}

/// A `move` closure changes copies of its own.
#[test]
fn a_block_that_moves() {
    let mut calls = 0;
    let answer = reattempt::retry_block!(backoff = "none", on(_), move || -> Result<u32, u32> {
        calls += 1;
        if calls == 3 { Ok(calls) } else { Err(calls) }
    });
    calls += 10;
    assert_eq!((answer, calls), (Ok(3), 10));
}

/// A broken path says nothing about what the other end has done.
#[test]
fn what_io_errors_prove() {
    use std::io::{Error, ErrorKind as Kind};
    for (kind, verdict) in [
        (Kind::ConnectionRefused, Verdict::Refused),
        (Kind::HostUnreachable, Verdict::Transient),
        (Kind::NetworkUnreachable, Verdict::Transient),
        (Kind::TimedOut, Verdict::Transient),
        (Kind::PermissionDenied, Verdict::Permanent),
    ] {
        assert_eq!(Error::from(kind).classify(), verdict, "{kind}");
    }
}

/// An item whose type names a function is still an `impl` block.
trait Call {
    fn call(&self, calls: &Cell<u32>) -> Result<u32, u32>;
}

#[retry(backoff = "none", on(_))]
impl Call for fn(u32) -> u32 {
    fn call(&self, calls: &Cell<u32>) -> Result<u32, u32> {
        calls.set(self(calls.get()));
        if calls.get() == 3 {
            Ok(3)
        } else {
            Err(calls.get())
        }
    }
}

#[test]
fn an_impl_for_a_function_type() {
    let next: fn(u32) -> u32 = |n| n + 1;
    assert_eq!(Call::call(&next, &Cell::new(0)), Ok(3));
}

/// Constants of the block around a method.
struct Sized<const N: u32>(Cell<u32>);

impl<const N: u32> Sized<N> {
    #[retry(max = N, base = "1ms", jitter = "none", on(_))]
    fn call(&self) -> Result<u32, u32> {
        self.0.set(self.0.get() + 1);
        Err(self.0.get())
    }
}

#[test]
fn a_constant_of_the_block() {
    assert_eq!(Sized::<2>(Cell::new(0)).call(), Err(2));
}
