//! Operations that must not run twice, policies on `impl` blocks, ready-made
//! policies.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed, and its numbers are small"
)]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
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
        (GiveUpReason::NotIdempotent, 1, Some(&Fault::Reset))
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

/// Where the adapters of client libraries decide that nothing ran, how often, and by what. A text proves nothing: whoever
/// it comes from may have written it after the operation. The beginning of a library's own `Display` is a kind where the
/// kind itself is private.
const NOTHING_RAN: &[(&str, &str, usize, &str)] = &[
    (
        "cause.rs",
        "",
        1,
        "the name of a cause, which is no verdict",
    ),
    ("cause.rs", "as_str", 1, "the name of a cause"),
    ("cause.rs", "of", 2, "reads a verdict"),
    (
        "clients/bb8.rs",
        "classify",
        1,
        "a variant: no connection in time",
    ),
    (
        "clients/chain.rs",
        "before_sending",
        1,
        "its caller's kind: before anything was sent",
    ),
    (
        "clients/chain.rs",
        "of_connecting",
        1,
        "its caller's kind: while connecting",
    ),
    ("clients/chain.rs", "of_standing", 1, "takes it away"),
    (
        "clients/deadpool.rs",
        "classify",
        1,
        "a variant: no connection in time",
    ),
    (
        "clients/diesel.rs",
        "classify",
        2,
        "a kind: 40001; a variant: no connection",
    ),
    (
        "clients/h2.rs",
        "classify",
        2,
        "codes: REFUSED_STREAM, and GOAWAY",
    ),
    (
        "clients/hyper.rs",
        "classify",
        1,
        "kinds: cancelled, closed",
    ),
    (
        "clients/io.rs",
        "classify",
        1,
        "the kind of the resolver's errors, which has no name",
    ),
    ("clients/lettre.rs", "classify", 1, "a status: 4yz"),
    (
        "clients/object_store.rs",
        "of_http",
        1,
        "a kind: while connecting",
    ),
    (
        "clients/redis.rs",
        "classify",
        2,
        "kinds: refused, nobody found",
    ),
    ("clients/redis.rs", "of_several", 2, "takes it away"),
    ("clients/redis.rs", "of_word", 1, "codes"),
    (
        "clients/sqlx.rs",
        "classify",
        1,
        "a variant: no connection in time",
    ),
    (
        "clients/ureq.rs",
        "classify_unredirected",
        2,
        "variants: while connecting",
    ),
    ("http/statuses.rs", "of", 1, "a status"),
    (
        "http/statuses.rs",
        "refused",
        1,
        "a status that the caller names",
    ),
    ("http/statuses.rs", "", 1, "its name"),
    ("tables.rs", "io", 1, "a kind"),
    ("tables.rs", "mysql", 1, "codes"),
    ("tables.rs", "sqlite", 1, "codes"),
    ("tables.rs", "sqlstate", 1, "codes"),
];

#[test]
fn nothing_ran_by_a_kind_a_code_or_a_status_alone() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let core = crates.join("reattempt-core/src");
    let mut found = BTreeMap::new();
    for folder in ["reattempt-core/src", "reattempt-http/src"] {
        for file in sources(&crates.join(folder)) {
            let place = file.strip_prefix(&core).unwrap_or(&file);
            // What verdicts are, and what they mean to a limit that ended a call.
            let is_meaning = ["verdict.rs", "failure.rs", "misnamed.rs"];
            if is_meaning.iter().any(|file| place == Path::new(file)) {
                continue;
            }
            for function in refusals(&fs::read_to_string(&file).unwrap()) {
                let place = (place.to_string_lossy().into_owned(), function);
                *found.entry(place).or_insert(0_usize) += 1;
            }
        }
    }
    let known = NOTHING_RAN.iter();
    let known: BTreeMap<_, _> = known
        .map(|&(file, function, times, _)| ((file.to_owned(), function.to_owned()), times))
        .collect();
    assert_eq!(
        found, known,
        "`Refused` says that nothing ran: take a kind, a code or a status, and add the place to NOTHING_RAN"
    );
}

/// The files of a folder and those below it, without tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files
}

/// The function of each place that names the verdict, without comments and tests.
fn refusals(source: &str) -> Vec<String> {
    let (mut function, mut places) = ("", Vec::new());
    for line in source.lines() {
        if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test") {
            break;
        }
        let code = line.split("//").next().unwrap_or_default();
        if let Some((_, named)) = code.split_once("fn ") {
            function = named.split(['(', '<']).next().unwrap_or_default();
        }
        let places_of_line =
            code.matches("Refused").count() - code.matches("ConnectionRefused").count();
        places.extend((0..places_of_line).map(|_| function.to_owned()));
    }
    places
}
