//! The first screen of the README: a program for each of its sentences.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use reattempt::http::{CheckStatus as _, RequestError};
use reattempt::testing::{self, virtual_time};
use reattempt::{GiveUpReason, Policy, RetryError, retry, retry_block};
use reqwest::{Client, Error, Response};
use tower::{Service as _, ServiceExt as _};

use crate::script::{Act, FINE, Script};

/// As the README has it.
#[retry(max = 5)]
async fn get(web: &Client, url: &str) -> Result<Response, RequestError<Error, Response>> {
    Ok(web.get(url).send().await?.check_status()?)
}

fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

/// "a 429 with `Retry-After: 7` is retried after 7 s, a 404 is not"
#[tokio::test(start_paused = true)]
async fn the_first_function_does_what_its_comment_says() {
    let asks = Act::Status("429 Too Many Requests\r\nretry-after: 7");
    let service = Script::start(&[asks, FINE]).await;
    let start = tokio::time::Instant::now();
    assert!(get(&client(), &service.url()).await.is_ok());
    let (least, most) = (Duration::from_secs(7), Duration::from_millis(7800));
    let waited = start.elapsed();
    assert!(least <= waited && waited <= most, "{waited:?}");

    let service = Script::start(&[Act::Status("404 Not Found")]).await;
    assert!(get(&client(), &service.url()).await.is_err());
    assert_eq!(service.requests().len(), 1);
}

/// "The compiler refuses policies that could never work, or that hammer a service": by the rules that constants meet, too.
#[test]
fn what_the_compiler_refuses() {
    let (ms, day) = (Duration::from_millis(1), Duration::from_secs(86_400));
    let fixed = Policy::new().backoff(reattempt::Backoff::Fixed).base(ms);
    for (policy, rule) in [
        (Policy::new().base(Duration::from_secs(2)).cap(ms), "X1"),
        (Policy::new().max(4).backoff(reattempt::Backoff::None), "X7"),
        (fixed.max(5000).deadline(day), "X19"),
        (fixed.unlimited().deadline(day), "X19"),
    ] {
        let broken: Vec<_> = policy.violations().map(|it| it.rule().as_str()).collect();
        assert!(broken.contains(&rule), "{rule}: {broken:?}");
    }
}

/// "sync and async functions, methods with any receiver (`&mut self` too), trait methods, under `#[async_trait]` and on `impl`
/// blocks. Signatures and errors stay as they are."
#[tokio::test(start_paused = true)]
async fn where_the_attribute_works() {
    #[derive(Default)]
    struct Line(u32);

    impl Line {
        fn answer(&mut self) -> io::Result<u32> {
            self.0 += 1;
            match self.0 % 3 {
                0 => Ok(self.0),
                _ => Err(ErrorKind::ConnectionReset.into()),
            }
        }
    }

    #[retry]
    impl Line {
        fn by_block(&mut self) -> io::Result<u32> {
            self.answer()
        }
    }

    trait Ask {
        fn by_trait(&mut self) -> io::Result<u32>;
    }

    impl Ask for Line {
        #[retry]
        fn by_trait(&mut self) -> io::Result<u32> {
            self.answer()
        }
    }

    #[async_trait::async_trait]
    trait AskLater {
        async fn later(&mut self) -> io::Result<u32>;
    }

    #[async_trait::async_trait]
    impl AskLater for Line {
        #[retry]
        async fn later(&mut self) -> io::Result<u32> {
            self.answer()
        }
    }

    impl Line {
        #[retry]
        fn held(self: &Arc<Self>) -> io::Result<u32> {
            match self.0 {
                0 => Err(ErrorKind::NotFound.into()),
                calls => Ok(calls),
            }
        }
    }

    let _time = virtual_time();
    let mut line = Line::default();
    // The signatures are what they were.
    let by_block: fn(&mut Line) -> io::Result<u32> = Line::by_block;
    let by_trait: fn(&mut Line) -> io::Result<u32> = Line::by_trait;
    let held: fn(&Arc<Line>) -> io::Result<u32> = Line::held;
    assert_eq!(by_block(&mut line).unwrap(), 3);
    assert_eq!(by_trait(&mut line).unwrap(), 6);
    assert_eq!(line.later().await.unwrap(), 9);
    // So are the errors.
    assert_eq!(
        held(&Arc::default()).unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

/// "`retry_block!` retries a part of a function; `Policy::run` and a tower layer need no attribute."
#[tokio::test(start_paused = true)]
async fn without_the_attribute() {
    let flaky = |calls: &mut u32| {
        *calls += 1;
        if *calls < 3 {
            Err(io::Error::from(ErrorKind::TimedOut))
        } else {
            Ok(*calls)
        }
    };
    let _time = virtual_time();
    let (mut block, mut run, layer) = (0, 0, AtomicU32::new(0));
    let answer: io::Result<u32> = retry_block!({ flaky(&mut block) });
    assert_eq!(answer.unwrap(), 3);
    assert_eq!(Policy::new().run(|| flaky(&mut run)).unwrap(), 3);
    let service = tower::service_fn(|(): ()| {
        let mut calls = layer.load(Relaxed);
        let answer = flaky(&mut calls);
        layer.store(calls, Relaxed);
        std::future::ready(answer)
    });
    let layered = reattempt::tower::RetryLayer::new(Policy::new());
    let mut service = tower::Layer::layer(&layered, service);
    assert_eq!(service.ready().await.unwrap().call(()).await.unwrap(), 3);
}

/// "A call makes at most 3 attempts. Delays are random: at most 100 ms before the first retry. That maximum doubles for each
/// further retry, up to 20 s." "By default there is no time limit."
#[test]
fn the_default_policy() {
    let policy = Policy::new();
    assert_eq!(policy.attempts(), Some(3));
    for retry in 0..12 {
        let most = Duration::from_millis(100 << retry).min(Duration::from_secs(20));
        assert_eq!(
            policy.delay_bounds(retry),
            (Duration::ZERO, most),
            "{retry}"
        );
    }
    let worst = policy.worst_case();
    assert_eq!(worst.total_delay(), Some(Duration::from_millis(300)));
    assert!(matches!(policy.limits(), (None, None, _)));
    assert!(policy.has_default_budget());
}

/// "If the service asks for more than one minute, the call ends."
#[tokio::test(start_paused = true)]
async fn patience_has_an_end() {
    let asks = Act::Status("429 Too Many Requests\r\nretry-after: 61");
    let service = Script::start(&[asks]).await;
    assert!(get(&client(), &service.url()).await.is_err());
    assert_eq!(service.requests().len(), 1);
}

/// "All calls of a function share a budget: in an outage retries end after a second, and the service can recover. A retry that
/// helps costs nothing, and a lone call is never limited."
#[test]
fn an_outage() {
    #[retry(max = 5, base = "100ms")]
    fn call(works: bool, attempts: &mut u32) -> Result<(), RetryError<io::Error>> {
        *attempts += 1;
        if works {
            Ok(())
        } else {
            Err(io::Error::from(ErrorKind::ConnectionReset))
        }
    }
    #[retry(max = 20, base = "10ms")]
    fn alone(attempts: &mut u32) -> Result<(), RetryError<io::Error>> {
        *attempts += 1;
        Err(io::Error::from(ErrorKind::ConnectionReset))
    }
    #[retry(max = 5)]
    fn helped(fails: &mut bool) -> io::Result<()> {
        *fails = !*fails;
        if *fails {
            Err(ErrorKind::ConnectionReset.into())
        } else {
            Ok(())
        }
    }

    let time = virtual_time();
    let _budgets = testing::default_budgets(true);
    let (mut attempts, mut refused) = (0, 0);
    for _ in 0..100 {
        let failed = call(false, &mut attempts).unwrap_err();
        refused += u32::from(failed.reason() == GiveUpReason::Budget);
        time.advance(Duration::from_millis(50));
    }
    // Nearly all of the calls make one attempt: no storm.
    assert!(refused >= 90 && attempts <= 130, "{refused} {attempts}");
    for _ in 0..100 {
        assert!(call(true, &mut attempts).is_ok());
    }
    let mut fails = false;
    for _ in 0..1000 {
        assert!(helped(&mut fails).is_ok());
    }
    let mut attempts = 0;
    assert_eq!(
        alone(&mut attempts).unwrap_err().reason(),
        GiveUpReason::Attempts
    );
    assert_eq!(attempts, 20);
}

/// "The operation may run twice. With `idempotent = false` the call retries only failures that prove that nothing ran."
#[test]
fn what_may_run_twice() {
    #[retry]
    fn twice(kind: ErrorKind, attempts: &mut u32) -> io::Result<()> {
        *attempts += 1;
        Err(kind.into())
    }
    #[retry(idempotent = false)]
    fn once(kind: ErrorKind, attempts: &mut u32) -> io::Result<()> {
        *attempts += 1;
        Err(kind.into())
    }
    let _time = virtual_time();
    for (kind, runs) in [
        (ErrorKind::ConnectionReset, [3, 1]),
        (ErrorKind::ConnectionRefused, [3, 3]),
    ] {
        let mut attempts = [0, 0];
        assert!(twice(kind, &mut attempts[0]).is_err());
        assert!(once(kind, &mut attempts[1]).is_err());
        assert_eq!(attempts, runs, "{kind}");
    }
}
