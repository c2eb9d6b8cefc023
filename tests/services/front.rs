//! The first screen of the README: a program for each of its sentences.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use anyhow::Context as _;
use reattempt::http::{CheckStatus as _, RequestError};
use reattempt::testing::{self, virtual_time};
use reattempt::{Classify, GaveUp, GiveUpReason, Policy, RetryError, Verdict, chain};
use reattempt::{retry, retry_block};
use reqwest::{Client, Error, Response};
use sqlx::postgres::PgPoolOptions;
use tower::{Service as _, ServiceExt as _};

use crate::script::{Act, BUSY, FINE, Script, nobody};

// As the README has them.

#[retry(max = 5, timeout = "2s", deadline = "8s")]
async fn page(web: &Client, url: &str) -> Result<String, RequestError<Error, Response>> {
    Ok(web.get(url).send().await?.check_status()?.text().await?)
}

#[retry]
async fn price(db: &sqlx::PgPool, id: i64) -> sqlx::Result<i64> {
    let sql = "SELECT cents FROM price WHERE id=$1";
    sqlx::query_scalar(sql).bind(id).fetch_one(db).await
}

#[retry(on = chain![io::Error])]
fn settings(path: &str) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {path}"))
}

#[derive(Debug, Classify)]
enum Fault {
    #[retry(transient)]
    Busy,
    #[retry(permanent)]
    Gone,
    #[retry(inherit)]
    Db(sqlx::Error),
}

#[retry]
fn stock(ask: impl Fn() -> Result<u32, Fault>) -> Result<u32, Fault> {
    ask()
}

fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

/// "retries a 503 and a broken connection, but not a 404"
#[tokio::test(start_paused = true)]
async fn the_first_function_does_what_its_comment_says() {
    let reset = Act::Reset("HTTP/1.1 200 OK\r\n");
    let service = Script::start(&[BUSY, reset, FINE]).await;
    assert_eq!(page(&client(), &service.url()).await.unwrap(), "hello");
    assert_eq!(service.requests().len(), 3);

    let service = Script::start(&[Act::Status("404 Not Found")]).await;
    assert!(page(&client(), &service.url()).await.is_err());
    assert_eq!(service.requests().len(), 1);
}

/// "attempts of 2 s, and 8 s in all". A database that nobody answers for is asked three times.
#[tokio::test(start_paused = true)]
async fn what_hangs_and_what_is_lost() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let start = tokio::time::Instant::now();
    let end = page(&client(), &url).await.unwrap_err();
    assert!(matches!(end, RequestError::GaveUp(end) if end.attempts() == 4));
    assert_eq!(start.elapsed(), Duration::from_secs(8));

    let url = nobody().replace("http://", "postgres://shop@");
    let pool = PgPoolOptions::new().connect_lazy(&url).unwrap();
    let record = testing::record();
    assert!(price(&pool, 7).await.is_err());
    assert_eq!(record.calls()[0].attempts().len(), 3);
}

/// All that can say that a limit ended the call takes further limits without another line.
#[tokio::test(start_paused = true)]
async fn further_limits() {
    static BREAKER: reattempt::Breaker = reattempt::Breaker::count_window(20);

    #[retry(max = 5, deadline = "10s", timeout = "2s", breaker = &BREAKER)]
    async fn page(web: &Client, url: &str) -> Result<String, RequestError<Error, Response>> {
        Ok(web.get(url).send().await?.check_status()?.text().await?)
    }

    #[retry(deadline = "10s", timeout = "2s", breaker = &BREAKER)]
    async fn price(db: &sqlx::PgPool, id: i64) -> sqlx::Result<i64> {
        let sql = "SELECT cents FROM price WHERE id=$1";
        sqlx::query_scalar(sql).bind(id).fetch_one(db).await
    }

    #[retry(on = chain![io::Error], deadline = "10s", breaker = &BREAKER)]
    fn settings(path: &str) -> anyhow::Result<String> {
        fs::read_to_string(path).with_context(|| format!("reading {path}"))
    }

    let service = Script::start(&[BUSY, FINE]).await;
    assert_eq!(page(&client(), &service.url()).await.unwrap(), "hello");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://shop@{}/shop", listener.local_addr().unwrap());
    let pool = PgPoolOptions::new().connect_lazy(&url).unwrap();
    assert!(price(&pool, 7).await.is_err());
    assert!(settings("/nowhere/settings").is_err());
}

/// "the `io::Error` inside decides", "each variant says whether a retry helps", and "three attempts, with delays
/// of up to 100 ms and 200 ms".
#[test]
fn the_sync_functions_do_what_their_comments_say() {
    let time = virtual_time();
    let record = testing::record();
    assert!(settings("/nowhere/settings").is_err());
    assert!(stock(|| Err(Fault::Busy)).is_err());
    assert!(time.elapsed() <= Duration::from_millis(300));
    assert!(stock(|| Err(Fault::Gone)).is_err());
    let lost = || sqlx::Error::Io(ErrorKind::ConnectionReset.into());
    assert!(stock(|| Err(Fault::Db(lost()))).is_err());
    assert!(stock(|| Err(Fault::Db(sqlx::Error::RowNotFound))).is_err());
    let calls = record.calls();
    let attempts: Vec<_> = calls.iter().map(|call| call.attempts().len()).collect();
    // A missing file is final.
    assert_eq!(attempts, [1, 3, 1, 3, 1]);
}

/// "`check_status()` keeps it; reqwest's `error_for_status()` loses it": after a 429 with `Retry-After: 7` the call waits 7 s.
#[tokio::test(start_paused = true)]
async fn headers_are_kept() {
    #[retry(max = 5)]
    async fn without(web: &Client, url: &str) -> reqwest::Result<String> {
        web.get(url).send().await?.error_for_status()?.text().await
    }
    let asks = Act::Status("429 Too Many Requests\r\nretry-after: 7");
    let service = Script::start(&[asks, FINE]).await;
    let start = tokio::time::Instant::now();
    assert!(page(&client(), &service.url()).await.is_ok());
    let (least, most) = (Duration::from_secs(7), Duration::from_millis(7800));
    let waited = start.elapsed();
    assert!(least <= waited && waited <= most, "{waited:?}");

    // Without them the delay is that of the policy.
    let service = Script::start(&[asks, FINE]).await;
    let start = tokio::time::Instant::now();
    assert!(without(&client(), &service.url()).await.is_ok());
    assert!(start.elapsed() < Duration::from_secs(1));
}

/// "`io::Error`, `sqlx::Error` and `anyhow::Error` can. There is `http::RequestError` for reqwest, and `RetryError<E>` for any
/// other error `E`."
#[test]
fn errors_that_say_that_a_limit_ended_the_call() {
    fn can<E: From<GaveUp>>() {}
    can::<io::Error>();
    can::<sqlx::Error>();
    can::<anyhow::Error>();
    can::<RequestError<Error, Response>>();
    can::<RetryError<std::fmt::Error>>();
}

/// "The errors of `std::io`, of the libraries below, and with `#[derive(Classify)]` know whether a retry makes sense."
#[test]
fn errors_know_whether_a_retry_makes_sense() {
    let lost = sqlx::Error::Io(ErrorKind::ConnectionReset.into());
    assert_eq!(lost.classify(), Verdict::Transient);
    assert_eq!(sqlx::Error::RowNotFound.classify(), Verdict::Permanent);
    let reset = io::Error::from(ErrorKind::ConnectionReset);
    assert_eq!(reset.classify(), Verdict::Transient);
    let missing = io::Error::from(ErrorKind::NotFound);
    assert_eq!(missing.classify(), Verdict::Permanent);
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

/// The defaults of the table of keys: 3 attempts; at most 100 ms before the first retry, which doubles for each further one,
/// up to 20 s; a delay from 0 to that; no time limit; a budget.
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
    assert!(!policy.has_limit());
    assert!(policy.has_default_budget());
}

/// "If the service asks for more than one minute, the call ends."
#[tokio::test(start_paused = true)]
async fn patience_has_an_end() {
    #[retry(max = 5)]
    async fn patient(web: &Client, url: &str) -> Result<String, RequestError<Error, Response>> {
        Ok(web.get(url).send().await?.check_status()?.text().await?)
    }
    let asks = Act::Status("429 Too Many Requests\r\nretry-after: 61");
    let service = Script::start(&[asks]).await;
    assert!(patient(&client(), &service.url()).await.is_err());
    assert_eq!(service.requests().len(), 1);
}

/// "all calls of a function share a budget: a retry takes a token, a success gives back what its call took, and while nothing
/// succeeds retries end after a second. A lone call is never limited."
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
