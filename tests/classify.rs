//! `#[derive(Classify)]`: every kind of variant, and what a policy without `on`
//! makes of it.
#![allow(
    dead_code,
    clippy::redundant_allocation,
    reason = "shapes of errors, not their use"
)]

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use reattempt::{Classify, Verdict, retry};

#[derive(Debug, Classify)]
enum Plain {
    #[retry(transient)]
    Unit,
    #[retry(permanent)]
    Tuple(u8, u8),
    #[retry(refused)]
    Named { port: u16 },
    #[retry(throttled)]
    Busy,
    #[retry(throttled, after = wait)]
    BusyUntil { wait: Duration, path: String },
    #[retry(throttled, after = 1)]
    MaybeUntil(u8, Option<Duration>),
    #[retry(transient, after = wait)]
    LostUntil { wait: Duration, path: String },
    #[retry(transient, after = 0)]
    MaybeLostUntil(Option<Duration>),
    #[retry(refused, after = wait)]
    NotSentUntil { wait: Duration },
    #[retry(after = 1, refused)]
    MaybeNotSentUntil(u8, Option<Duration>),
    #[retry(forbidden)]
    Never(),
    #[retry(inherit)]
    Io(io::Error),
    #[retry(inherit)]
    Shared { inner: Arc<Box<Plain>> },
}

/// The content decides.
#[derive(Debug, Classify)]
enum Coded<T: AsRef<str>> {
    #[retry(with = |status: &u16| *status >= 500)]
    Status(u16),
    #[retry(with = reattempt::tables::sqlstate)]
    Database { code: String },
    #[retry(with = Self::of_answer)]
    Answer { code: i32, text: T },
}

impl<T: AsRef<str>> Coded<T> {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "a field is given by reference"
    )]
    fn of_answer(code: &i32, text: &T) -> Verdict {
        let wait = text.as_ref().parse().ok().map(Duration::from_secs);
        reattempt::tables::grpc(*code).after(wait)
    }
}

#[test]
fn the_content_of_a_variant() {
    let answer = |code, text| Coded::Answer { code, text };
    let database = |code: &str| Coded::Database {
        code: code.to_owned(),
    };
    for (error, verdict) in [
        (Coded::Status(503), Verdict::Transient),
        (Coded::Status(404), Verdict::Permanent),
        (database("40001"), Verdict::Refused),
        (database("42601"), Verdict::Permanent),
        (answer(14, "soon"), Verdict::Transient),
        (
            answer(14, "7"),
            Verdict::TransientAfter(Duration::from_secs(7)),
        ),
        (answer(3, "7"), Verdict::Permanent),
    ] {
        assert_eq!(error.classify(), verdict, "{error:?}");
    }
}

#[test]
fn every_kind_of_variant() {
    let second = Duration::from_secs(1);
    let lost = || io::Error::from(io::ErrorKind::ConnectionReset);
    for (error, verdict) in [
        (Plain::Unit, Verdict::Transient),
        (Plain::Tuple(1, 2), Verdict::Permanent),
        (Plain::Named { port: 80 }, Verdict::Refused),
        (Plain::Busy, Verdict::Throttled(None)),
        (
            Plain::BusyUntil {
                wait: second,
                path: String::new(),
            },
            Verdict::Throttled(Some(second)),
        ),
        (
            Plain::MaybeUntil(1, Some(second)),
            Verdict::Throttled(Some(second)),
        ),
        (Plain::MaybeUntil(1, None), Verdict::Throttled(None)),
        (
            Plain::LostUntil {
                wait: second,
                path: String::new(),
            },
            Verdict::TransientAfter(second),
        ),
        (
            Plain::MaybeLostUntil(Some(second)),
            Verdict::TransientAfter(second),
        ),
        (Plain::MaybeLostUntil(None), Verdict::Transient),
        (
            Plain::NotSentUntil { wait: second },
            Verdict::Throttled(Some(second)),
        ),
        (
            Plain::MaybeNotSentUntil(1, Some(second)),
            Verdict::Throttled(Some(second)),
        ),
        (Plain::MaybeNotSentUntil(1, None), Verdict::Refused),
        (Plain::Never(), Verdict::RetryForbidden),
        (Plain::Io(lost()), Verdict::Transient),
        (
            Plain::Io(io::ErrorKind::NotFound.into()),
            Verdict::Permanent,
        ),
        (
            Plain::Shared {
                inner: Arc::new(Box::new(Plain::Unit)),
            },
            Verdict::Transient,
        ),
    ] {
        assert_eq!(error.classify(), verdict, "{error:?}");
    }
}

#[derive(Debug, Classify)]
#[retry(default = permanent)]
enum Mostly<'a, E, const N: usize>
where
    E: Error,
{
    #[retry(inherit)]
    Wrapped(E),
    Text(&'a str),
    Bytes([u8; N]),
}

#[test]
fn generics_and_a_default() {
    let lost = Mostly::<_, 2>::Wrapped(io::Error::from(io::ErrorKind::TimedOut));
    assert_eq!(lost.classify(), Verdict::Transient);
    assert_eq!(
        Mostly::<io::Error, 2>::Text("no").classify(),
        Verdict::Permanent
    );
    assert_eq!(
        Mostly::<io::Error, 2>::Bytes([0; 2]).classify(),
        Verdict::Permanent
    );
}

#[derive(Debug, Classify)]
#[retry(throttled, after = wait)]
struct Slow {
    wait: Duration,
}

#[derive(Debug, Classify)]
#[retry(inherit)]
struct Wrapper(Slow);

#[derive(Debug, Classify)]
#[retry(transient)]
struct Lost;

#[derive(Debug, Classify)]
#[retry(transient, after = 0)]
struct LostFor(Option<Duration>);

#[derive(Debug, Classify)]
enum Impossible {}

#[test]
fn structs_and_nothing() {
    let wait = Duration::from_millis(5);
    assert_eq!(
        Wrapper(Slow { wait }).classify(),
        Verdict::Throttled(Some(wait))
    );
    assert_eq!(Lost.classify(), Verdict::Transient);
    assert_eq!(
        LostFor(Some(wait)).classify(),
        Verdict::TransientAfter(wait)
    );
    assert_eq!(LostFor(None).classify(), Verdict::Transient);
    let none: Option<Impossible> = None;
    assert!(none.is_none());
}

/// The delay that the error asks for is kept, up to 10 % longer, never shorter.
#[tokio::test(start_paused = true)]
async fn the_error_says_when_to_come_back() {
    #[retry(max = 2, base = "1ms")]
    async fn ask() -> Result<(), Slow> {
        Err(Slow {
            wait: Duration::from_secs(7),
        })
    }
    let start = tokio::time::Instant::now();
    assert!(ask().await.is_err());
    let waited = start.elapsed();
    assert!(
        waited >= Duration::from_secs(7) && waited < Duration::from_millis(7705),
        "{waited:?}"
    );
}

/// What is asked for in vain: longer than the policy's patience.
#[tokio::test(start_paused = true)]
async fn patience_has_an_end() {
    #[retry(max = 2, base = "1ms", max_retry_after = "5s")]
    async fn ask(calls: &mut u32) -> Result<(), Slow> {
        *calls += 1;
        Err(Slow {
            wait: Duration::from_secs(7),
        })
    }
    let (start, mut calls) = (tokio::time::Instant::now(), 0);
    assert!(ask(&mut calls).await.is_err());
    assert_eq!((start.elapsed(), calls), (Duration::ZERO, 1));
}

/// What every verdict allows, and what is left of it with a delay and without its proof.
#[test]
fn every_verdict() {
    use Verdict::{Permanent, Refused, RetryForbidden, Throttled, Transient, TransientAfter};
    const FIRST: Duration = Duration::from_secs(1);
    const LATER: Duration = Duration::from_secs(2);
    let (throttled, transient) = (Throttled(Some(LATER)), TransientAfter(LATER));
    // Whether it may be retried and whether it may have run; then with a delay, and ambiguous.
    for (verdict, retryable, ambiguous, after, into_ambiguous) in [
        (Transient, true, true, transient, Transient),
        (
            TransientAfter(FIRST),
            true,
            true,
            transient,
            TransientAfter(FIRST),
        ),
        (Throttled(None), true, false, throttled, Transient),
        (
            Throttled(Some(FIRST)),
            true,
            false,
            throttled,
            TransientAfter(FIRST),
        ),
        (Refused, true, false, throttled, Transient),
        (Permanent, false, false, Permanent, Permanent),
        (RetryForbidden, false, false, RetryForbidden, RetryForbidden),
    ] {
        assert_eq!(verdict.is_retryable(), retryable, "{verdict:?}");
        assert_eq!(verdict.is_ambiguous(), ambiguous, "{verdict:?}");
        assert_eq!(verdict.after(Some(LATER)), after, "{verdict:?}");
        assert_eq!(verdict.after(None), verdict);
        assert_eq!(verdict.into_ambiguous(), into_ambiguous, "{verdict:?}");
    }
}

/// A delay proves nothing: what may have been executed is not repeated.
#[tokio::test(start_paused = true)]
async fn a_delay_does_not_make_it_safe() {
    #[retry(max = 2, idempotent = false)]
    async fn pay(calls: &mut u32, error: fn() -> Plain) -> Result<(), Plain> {
        *calls += 1;
        Err(error())
    }
    const SECOND: Duration = Duration::from_secs(1);
    let lost = || Plain::MaybeLostUntil(Some(SECOND));
    let (start, mut calls) = (tokio::time::Instant::now(), 0);
    assert!(pay(&mut calls, lost).await.is_err());
    assert_eq!((start.elapsed(), calls), (Duration::ZERO, 1));
    let not_sent = || Plain::NotSentUntil { wait: SECOND };
    assert!(pay(&mut calls, not_sent).await.is_err());
    let waited = start.elapsed();
    assert_eq!(calls, 3);
    assert!(
        waited >= SECOND && waited <= Duration::from_millis(1101),
        "{waited:?}"
    );
}

/// `except` may answer with a verdict: one that forbids ends the call, and one that does not allows nothing by itself.
#[test]
fn an_exception_is_a_verdict() {
    #[retry(max = 3, backoff = "none", except = |_| exception)]
    fn load(calls: &mut u32, exception: Verdict, error: fn() -> Plain) -> Result<(), Plain> {
        *calls += 1;
        Err(error())
    }
    let (transient, never): (fn() -> _, fn() -> _) = (|| Plain::Unit, Plain::Never);
    for (exception, error, calls) in [
        (Verdict::Transient, transient, 3),
        (Verdict::Permanent, transient, 1),
        (Verdict::Transient, never, 1),
        (Verdict::Refused, never, 1),
    ] {
        let mut made = 0;
        assert!(load(&mut made, exception, error).is_err());
        assert_eq!(made, calls, "{exception:?}");
    }
}

/// Of a name that no resolver has to be asked for.
#[cfg(unix)]
#[test]
fn a_host_without_an_address() {
    use std::net::ToSocketAddrs as _;

    let error = ("x".repeat(64), 1).to_socket_addrs().err();
    assert_eq!(error.map(|error| error.classify()), Some(Verdict::Refused));
}

/// Every kind that the standard library has a name for. The rows that are wrong are shown together.
#[test]
fn every_kind_of_io_error() {
    use io::ErrorKind as Kind;

    const REFUSED: &[Kind] = &[Kind::ConnectionRefused];
    const TRANSIENT: &[Kind] = &[
        Kind::BrokenPipe,
        Kind::ConnectionAborted,
        Kind::ConnectionReset,
        Kind::HostUnreachable,
        Kind::Interrupted,
        Kind::NetworkDown,
        Kind::NetworkUnreachable,
        Kind::NotConnected,
        Kind::ResourceBusy,
        Kind::TimedOut,
        Kind::UnexpectedEof,
        Kind::WouldBlock,
    ];
    const PERMANENT: &[Kind] = &[
        Kind::AddrInUse,
        Kind::AddrNotAvailable,
        Kind::AlreadyExists,
        Kind::ArgumentListTooLong,
        Kind::CrossesDevices,
        Kind::Deadlock,
        Kind::DirectoryNotEmpty,
        Kind::ExecutableFileBusy,
        Kind::FileTooLarge,
        Kind::InvalidData,
        Kind::InvalidFilename,
        Kind::InvalidInput,
        Kind::IsADirectory,
        Kind::NotADirectory,
        Kind::NotFound,
        Kind::NotSeekable,
        Kind::Other,
        Kind::OutOfMemory,
        Kind::PermissionDenied,
        Kind::QuotaExceeded,
        Kind::ReadOnlyFilesystem,
        Kind::StaleNetworkFileHandle,
        Kind::StorageFull,
        Kind::TooManyLinks,
        Kind::Unsupported,
        Kind::WriteZero,
    ];
    let mut wrong = Vec::new();
    for (kinds, expected) in [
        (REFUSED, Verdict::Refused),
        (TRANSIENT, Verdict::Transient),
        (PERMANENT, Verdict::Permanent),
    ] {
        for kind in kinds {
            let verdict = io::Error::from(*kind).classify();
            if verdict != expected {
                wrong.push((kind, verdict, expected));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[derive(Debug, PartialEq)]
enum Kind {
    Busy,
    Closed,
}

/// The derive gives a parameter the type of its field where the body needs it, and no other one: a text may be matched.
#[derive(Debug, Classify)]
enum Untyped {
    #[retry(with = |code| *code >= 500)]
    Compared(u16),
    #[retry(with = |code, _| *code >= 500)]
    First(u16, String),
    #[retry(with = |code| matches!(code, 500..=599))]
    Matched(u16),
    #[retry(with = |kind| matches!(kind, Kind::Busy))]
    Variant(Kind),
    #[retry(with = |&code| code >= 500)]
    Pattern(u16),
    #[retry(with = |code| if let Some(code) = code { *code >= 500 } else { false })]
    Inside(Option<u16>),
    #[retry(with = |code, name| *code >= 500 && name.is_empty())]
    Named { code: u16, name: &'static str },
    #[retry(with = |name| matches!(name, "busy" | "closed"))]
    Text(String),
    #[retry(with = |name| ["busy"].contains(&name))]
    Listed(String),
    #[retry(with = |name| match name { "busy" => true, other => other.is_empty() })]
    Arms(String),
}

#[test]
fn closures_know_the_types_of_the_fields() {
    let transient = [
        Untyped::Compared(500),
        Untyped::First(500, String::new()),
        Untyped::Matched(503),
        Untyped::Variant(Kind::Busy),
        Untyped::Pattern(500),
        Untyped::Inside(Some(500)),
        Untyped::Named {
            code: 500,
            name: "",
        },
        Untyped::Text("busy".to_owned()),
        Untyped::Listed("busy".to_owned()),
        Untyped::Arms("busy".to_owned()),
    ];
    let permanent = [
        Untyped::Compared(404),
        Untyped::Variant(Kind::Closed),
        Untyped::Inside(None),
        Untyped::Text("gone".to_owned()),
    ];
    let all = |errors: &[Untyped], verdict| {
        let mut errors = errors.iter();
        errors.all(|error| error.classify() == verdict)
    };
    assert!(all(&transient, Verdict::Transient));
    assert!(all(&permanent, Verdict::Permanent));
}
