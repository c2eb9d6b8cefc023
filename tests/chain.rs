//! `chain!`: errors inside errors, for every form in which a policy stands.
#![allow(
    clippy::unwrap_used,
    clippy::items_after_statements,
    clippy::type_complexity,
    clippy::unused_self,
    reason = "a test that fails says where"
)]

use std::error::Error;
use std::fmt;
use std::future::{Ready, ready};
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use anyhow::Context as _;
use reattempt::observe::{self, Event};
use reattempt::testing::virtual_time;
use reattempt::tower::RetryLayer;
use reattempt::{
    Classify, GaveUp, GiveUpReason, Policy, RetryError, Verdict, chain, retry, retry_block,
};
use tower::{Layer as _, Service, ServiceExt as _};

type Boxed = Box<dyn Error + Send + Sync>;

/// An error of an application, which wraps those of libraries.
#[derive(Debug)]
enum AppError {
    Io(io::Error),
    Shared(Arc<io::Error>),
    Empty,
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the store")
    }
}

impl Error for AppError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Shared(error) => Some(error),
            Self::Empty => None,
        }
    }
}

/// An error that says itself what it means.
#[derive(Debug, Classify)]
enum Known {
    #[retry(transient)]
    Busy,
    #[retry(permanent)]
    Wrong(io::Error),
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("known")
    }
}

impl Error for Known {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Busy => None,
            Self::Wrong(error) => Some(error),
        }
    }
}

fn reset() -> io::Error {
    ErrorKind::ConnectionReset.into()
}

/// Counts a call and fails.
fn failing<E>(calls: &mut u32, error: impl FnOnce() -> E) -> Result<(), E> {
    *calls += 1;
    Err(error())
}

/// As D2: an own enum around `io::Error`, behind `anyhow::Context`.
fn load(calls: &mut u32) -> anyhow::Result<()> {
    failing(calls, || AppError::Io(reset())).context("reading")
}

fn load_eyre(calls: &mut u32) -> eyre::Result<()> {
    eyre::WrapErr::wrap_err(failing(calls, || AppError::Io(reset())), "reading")
}

#[test]
fn an_own_enum_behind_a_context_is_retried() {
    #[retry(on = chain![io::Error])]
    fn by_attribute(calls: &mut u32) -> anyhow::Result<()> {
        load(calls)
    }

    #[retry(on = reattempt::chain![Known, io::Error,])]
    fn by_eyre(calls: &mut u32) -> eyre::Result<()> {
        load_eyre(calls)
    }

    #[retry(on = chain![Known, io::Error])]
    fn by_box(calls: &mut u32) -> Result<(), Boxed> {
        Ok(failing(calls, || AppError::Io(reset()))?)
    }

    #[retry(on = chain![io::Error])]
    fn by_local_box(calls: &mut u32) -> Result<(), Box<dyn Error>> {
        Ok(failing(calls, || AppError::Io(reset()))?)
    }

    #[retry(on = chain![io::Error])]
    fn by_itself(calls: &mut u32) -> Result<(), AppError> {
        failing(calls, || AppError::Io(reset()))
    }

    #[retry(on = chain![io::Error])]
    fn by_retry_error(calls: &mut u32) -> Result<(), RetryError<anyhow::Error>> {
        load(calls)
    }

    struct Store;

    #[retry(on = chain![io::Error])]
    impl Store {
        fn load(&self, calls: &mut u32) -> anyhow::Result<()> {
            load(calls)
        }
    }

    let _time = virtual_time();
    let forms: [(&str, fn(&mut u32) -> bool); 10] = [
        ("anyhow", |calls| by_attribute(calls).is_err()),
        ("eyre", |calls| by_eyre(calls).is_err()),
        ("box", |calls| by_box(calls).is_err()),
        ("local box", |calls| by_local_box(calls).is_err()),
        ("itself", |calls| by_itself(calls).is_err()),
        ("retry error", |calls| by_retry_error(calls).is_err()),
        ("impl", |calls| Store.load(calls).is_err()),
        ("block", |calls| {
            let answer = retry_block!(on = chain![io::Error], || -> anyhow::Result<()> {
                load(calls)
            });
            answer.is_err()
        }),
        ("runner", |calls| {
            let policy = Policy::new();
            policy.on(chain![io::Error]).run(|| load(calls)).is_err()
        }),
        ("try_run", |calls| {
            let policy = Policy::new();
            let end = policy.on(chain![io::Error]).try_run(|| load(calls));
            end.unwrap_err().attempts() == 3
        }),
    ];
    for (form, run) in forms {
        let mut calls = 0;
        assert!(run(&mut calls), "{form}");
        assert_eq!(calls, 3, "{form}");
    }
}

#[tokio::test(start_paused = true)]
async fn async_forms_look_inside_too() {
    #[retry(timeout = "1s", on = chain![io::Error])]
    async fn by_attribute(calls: &mut u32) -> anyhow::Result<()> {
        load(calls)
    }

    let mut calls = 0;
    assert!(by_attribute(&mut calls).await.is_err());
    assert_eq!(calls, 3);

    let answer = retry_block!(on = chain![io::Error], async || -> eyre::Result<()> {
        load_eyre(&mut calls)
    });
    assert!(answer.await.is_err());
    assert_eq!(calls, 6);

    let policy = Policy::new();
    let runner = policy.on(chain![io::Error]);
    let answer = runner.run_async(|| ready(load(&mut calls)));
    assert!(answer.await.is_err());
    assert_eq!(calls, 9);
}

#[tokio::test(start_paused = true)]
async fn a_layer_looks_inside_the_error_of_its_service() {
    #[derive(Clone)]
    struct Flaky(Arc<Mutex<u32>>);

    impl Service<()> for Flaky {
        type Response = ();
        type Error = Boxed;
        type Future = Ready<Result<(), Boxed>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Boxed>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, (): ()) -> Self::Future {
            let mut calls = self.0.lock().unwrap();
            ready(failing(&mut calls, || AppError::Io(reset())).map_err(Into::into))
        }
    }

    let calls = Arc::new(Mutex::new(0));
    let layer =
        RetryLayer::new(Policy::new()).on_answer(|answer: &Result<(), Boxed>| match answer {
            Ok(()) => Verdict::Permanent,
            Err(error) => chain![io::Error](error),
        });
    let service = layer.layer(Flaky(Arc::clone(&calls)));
    assert!(service.oneshot(()).await.is_err());
    assert_eq!(*calls.lock().unwrap(), 3);
}

#[test]
fn the_first_that_is_found_decides() {
    let judge = chain![io::Error, Known];
    let refused = || io::Error::from(ErrorKind::ConnectionRefused);
    let table: [(&str, anyhow::Error, Verdict); 12] = [
        ("itself", refused().into(), Verdict::Refused),
        ("no such", AppError::Empty.into(), Verdict::Permanent),
        (
            "text",
            anyhow::anyhow!("connection reset"),
            Verdict::Permanent,
        ),
        ("below", AppError::Io(refused()).into(), Verdict::Refused),
        (
            "shared",
            AppError::Shared(Arc::new(refused())).into(),
            Verdict::Refused,
        ),
        ("outer", Known::Wrong(reset()).into(), Verdict::Permanent),
        ("busy", Known::Busy.into(), Verdict::Transient),
        (
            "wrapped",
            io::Error::other(Known::Busy).into(),
            Verdict::Transient,
        ),
        (
            "wrapped twice",
            io::Error::other(io::Error::other(refused())).into(),
            Verdict::Refused,
        ),
        (
            "wraps what is not in the list",
            io::Error::other(fmt::Error).into(),
            Verdict::Permanent,
        ),
        (
            "a kind of its own",
            io::Error::new(ErrorKind::TimedOut, Known::Wrong(reset())).into(),
            Verdict::Transient,
        ),
        (
            "a context above a context",
            Err::<(), _>(refused())
                .context("inner")
                .context("outer")
                .unwrap_err(),
            Verdict::Refused,
        ),
    ];
    for (what, error, verdict) in table {
        assert_eq!(judge(&error), verdict, "{what}");
    }
}

#[test]
fn what_a_call_below_ended_with_is_found() {
    let judge = chain![io::Error];
    let open = GaveUp::new(GiveUpReason::BreakerOpen, 0);
    let too_long = GaveUp::new(GiveUpReason::RetryAfterTooLong, 1);
    let table: [(anyhow::Error, Verdict); 4] = [
        (open.into(), Verdict::Refused),
        (io::Error::from(open).into(), Verdict::Refused),
        (
            AppError::Io(too_long.into()).into(),
            Verdict::Throttled(None),
        ),
        (
            RetryError::new(too_long, Some(reset())).into(),
            Verdict::Transient,
        ),
    ];
    for (error, verdict) in table {
        let error = error.context("calling");
        assert_eq!(judge(&error), verdict, "{error:?}");
    }
    let end = RetryError::<io::Error>::from(open);
    assert_eq!(judge(&anyhow::Error::from(end)), Verdict::Refused);
}

#[test]
fn a_variant_looks_inside_what_it_wraps() {
    #[derive(Debug, Classify)]
    #[expect(dead_code, reason = "a path is for people")]
    enum Mine {
        #[retry(chain(io::Error, Known))]
        Other(anyhow::Error),
        #[retry(chain(io::Error))]
        At { path: &'static str, source: Boxed },
        #[retry(inherit)]
        Io {
            source: io::Error,
            path: &'static str,
        },
    }

    let context = |error: AppError| anyhow::Error::from(error).context("reading");
    let at = |source| Mine::At { path: "x", source };
    let table = [
        (
            Mine::Other(context(AppError::Io(reset()))),
            Verdict::Transient,
        ),
        (Mine::Other(context(AppError::Empty)), Verdict::Permanent),
        (Mine::Other(Known::Busy.into()), Verdict::Transient),
        (at(AppError::Io(reset()).into()), Verdict::Transient),
        (at("no file".into()), Verdict::Permanent),
        (
            Mine::Io {
                source: reset(),
                path: "x",
            },
            Verdict::Transient,
        ),
    ];
    for (error, verdict) in table {
        assert_eq!(error.classify(), verdict, "{error:?}");
    }

    #[derive(Debug, Classify)]
    #[retry(chain(io::Error))]
    struct Wrapper(eyre::Report);

    assert!(Wrapper(reset().into()).classify().is_retryable());
}

#[test]
fn it_proves_what_the_error_inside_proves() {
    #[retry(idempotent = false, on = chain![io::Error])]
    fn once(calls: &mut u32, kind: ErrorKind) -> anyhow::Result<()> {
        Ok(failing(calls, || AppError::Io(kind.into()))?)
    }

    let _time = virtual_time();
    for (kind, expected) in [
        (ErrorKind::ConnectionReset, 1),
        (ErrorKind::ConnectionRefused, 3),
    ] {
        let mut calls = 0;
        assert!(once(&mut calls, kind).is_err());
        assert_eq!(calls, expected, "{kind:?}");
    }
}

/// What an observer reads of the first failed attempt of `call`.
fn message_of<R>(call: impl FnOnce() -> R) -> Option<String> {
    let seen = Arc::new(Mutex::new(None));
    let found = Arc::clone(&seen);
    let observer = move |event: &Event<'_>| {
        let message = event.facts().and_then(|facts| facts.error_message());
        found
            .lock()
            .unwrap()
            .get_or_insert_with(|| message.map(str::to_owned));
    };
    observe::scope_blocking(Arc::new(observer), call);
    let mut seen = seen.lock().unwrap();
    seen.take().flatten()
}

/// D9: `reading` alone does not say what happened.
#[test]
fn what_is_logged_is_the_whole_chain() {
    #[retry(max = 1)]
    fn by_anyhow() -> anyhow::Result<()> {
        load(&mut 0)
    }

    #[retry(max = 1)]
    fn by_box() -> Result<(), Boxed> {
        Ok(failing(&mut 0, || {
            AppError::Io(ErrorKind::TimedOut.into())
        })?)
    }

    #[retry(max = 1)]
    fn by_itself() -> Result<(), AppError> {
        failing(&mut 0, || AppError::Io(ErrorKind::TimedOut.into()))
    }

    #[retry(max = 1)]
    fn said_already() -> eyre::Result<()> {
        let error = io::Error::other("out of ink");
        let text = format!("printing: {error}");
        Err(eyre::Report::from(error).wrap_err(text))
    }

    #[retry(max = 1)]
    fn by_text() -> Result<(), &'static str> {
        Err("plain")
    }

    /// An error that borrows, which no chain may ask for what is `'static`.
    #[derive(Debug)]
    struct Borrowed<'a>(&'a str);

    impl fmt::Display for Borrowed<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Borrowed<'_> {}

    #[retry(max = 1)]
    fn borrowed<'a>(text: &'a str) -> Result<(), Borrowed<'a>> {
        Err(Borrowed(text))
    }

    let said = |text: &str| Some(text.to_owned());
    assert_eq!(
        message_of(by_anyhow),
        said("reading: the store: connection reset")
    );
    assert_eq!(message_of(by_box), said("the store: timed out"));
    assert_eq!(message_of(by_itself), said("the store: timed out"));
    assert_eq!(message_of(said_already), said("printing: out of ink"));
    assert_eq!(message_of(by_text), said("plain"));
    assert_eq!(message_of(|| borrowed("mine").is_err()), said("mine"));
    let policy = Policy::new().max(1);
    let runner = || policy.on(chain![io::Error]).shown().run(|| load(&mut 0));
    assert_eq!(
        message_of(runner),
        said("reading: the store: connection reset")
    );
}
