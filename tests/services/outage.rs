//! A service that is down for everybody, and how often its clients ask it: without and with what bounds their
//! retries, and by other crates (figures Q1 and Q2).

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use backon::Retryable as _;
use futures::StreamExt as _;
use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use reattempt::http::CheckStatus as _;
use reattempt::{Breaker, Budget, RetryError, Throttle, retry};
use reqwest::{Client, Response};
use reqwest_retry::RetryTransientMiddleware;
use tokio::net::TcpListener;
use tokio::time::{Sleep, sleep};
use tower::ServiceExt as _;
use tower::retry::budget::{Budget as _, TpsBudget};

type Failure = reattempt::http::RequestError<reqwest::Error, Response>;

const CALLS: u32 = 2000;
const AT_ONCE: u32 = 50;
const INITIAL: u32 = 10;
const MS: Duration = Duration::from_millis(1);

/// A server that answers every request with 503.
struct Outage {
    url: String,
    requests: Arc<AtomicU32>,
}

impl Outage {
    async fn begin() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let requests = Arc::<AtomicU32>::default();
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let seen = Arc::clone(&seen);
                let answer = service_fn(move |_: http::Request<Incoming>| {
                    seen.fetch_add(1, Ordering::Relaxed);
                    let answer = http::Response::builder().status(503);
                    async { Ok::<_, Infallible>(answer.body(Empty::<Bytes>::new()).unwrap()) }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), answer));
            }
        });
        Self { url, requests }
    }
}

/// What calls of one kind came to.
#[derive(Debug)]
struct Row {
    name: &'static str,
    attempts: u32,
}

impl Row {
    /// Makes the calls, some at a time, each of which has to fail.
    async fn of<T, E>(name: &'static str, call: impl AsyncFn(&str) -> Result<T, E>) -> Self {
        let outage = Outage::begin().await;
        let (url, call) = (outage.url.as_str(), &call);
        let calls = futures::stream::iter(0..CALLS);
        calls
            .for_each_concurrent(AT_ONCE as usize, async |_| {
                assert!(call(url).await.is_err());
            })
            .await;
        let attempts = outage.requests.load(Ordering::Relaxed);
        Self { name, attempts }
    }

    #[track_caller]
    fn assert(&self, expected: RangeInclusive<u32>) {
        let Self { name, attempts } = *self;
        let each = f64::from(attempts) / f64::from(CALLS);
        println!("| {name:<40} | {CALLS:>5} | {attempts:>8} | {each:>17.3} |");
        assert!(
            expected.contains(&attempts),
            "{name}: {attempts} attempts, not {expected:?}"
        );
    }
}

fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

async fn get(client: &Client, url: &str) -> Result<Response, Failure> {
    Ok(client.get(url).send().await?.check_status()?)
}

#[retry(max = 3, base = "1ms")]
async fn three(client: &Client, url: &str) -> Result<Response, Failure> {
    get(client, url).await
}

#[retry(max = 5, base = "1ms", cap = "2ms")]
async fn five(client: &Client, url: &str) -> Result<Response, Failure> {
    get(client, url).await
}

static PER_SUCCESS: Budget = Budget::per_success(0.1).initial(INITIAL).floor(0.0);

#[retry(max = 5, base = "1ms", cap = "2ms", budget = &PER_SUCCESS)]
async fn per_success(client: &Client, url: &str) -> Result<Response, Failure> {
    get(client, url).await
}

static PER_REQUEST: Budget = Budget::per_request(0.1).initial(INITIAL).floor(0.0);

#[retry(max = 5, base = "1ms", cap = "2ms", budget = &PER_REQUEST)]
async fn per_request(client: &Client, url: &str) -> Result<Response, Failure> {
    get(client, url).await
}

#[retry(max = 5, base = "1ms", cap = "2ms", budget = 0.1)]
async fn by_default(client: &Client, url: &str) -> Result<Response, Failure> {
    get(client, url).await
}

// Longer than the test, so that there is no probe.
static BREAKER: Breaker = Breaker::count_window(20).cooldown(Duration::from_secs(600));

#[retry(max = 5, base = "1ms", cap = "2ms", breaker = &BREAKER)]
async fn broken(client: &Client, url: &str) -> Result<Response, RetryError<Failure>> {
    get(client, url).await
}

static THROTTLE: Throttle = Throttle::adaptive().min_requests(1).ceiling(1.0);

#[retry(max = 5, base = "1ms", cap = "2ms", throttle = &THROTTLE)]
async fn throttled(client: &Client, url: &str) -> Result<Response, RetryError<Failure>> {
    get(client, url).await
}

/// As the documentation of `tower::retry` shows it.
#[derive(Clone)]
struct Attempts {
    retries: u32,
    budget: Option<Arc<TpsBudget>>,
}

impl<T, E> tower::retry::Policy<String, T, E> for Attempts {
    type Future = Sleep;

    fn retry(&mut self, _: &mut String, result: &mut Result<T, E>) -> Option<Sleep> {
        let budget = self.budget.as_ref();
        if result.is_ok() {
            budget.inspect(|budget| budget.deposit());
            return None;
        }
        self.retries = self.retries.checked_sub(1)?;
        budget
            .is_none_or(|budget| budget.withdraw())
            .then(|| sleep(MS))
    }

    fn clone_request(&mut self, url: &String) -> Option<String> {
        Some(url.clone())
    }
}

async fn by_tower(client: &Client, url: &str, policy: Attempts) -> Result<Response, Failure> {
    let service = tower::service_fn(async |url: String| get(client, &url).await);
    let service = tower::retry::Retry::new(policy, service);
    service.oneshot(url.to_owned()).await
}

#[tokio::test]
async fn retries_in_an_outage() {
    let client = client();
    let heads = ["calls", "attempts", "attempts per call"];
    println!(
        "| {:<40} | {} | {} | {} |",
        "", heads[0], heads[1], heads[2]
    );

    let row = Row::of("no retry", async |url| get(&client, url).await).await;
    row.assert(CALLS..=CALLS);
    let row = Row::of("max = 3", async |url| three(&client, url).await).await;
    row.assert(3 * CALLS..=3 * CALLS);
    let row = Row::of("max = 5", async |url| five(&client, url).await).await;
    row.assert(5 * CALLS..=5 * CALLS);

    // Q2, 1 + T0/n: nothing is deposited, and what is there at the start is used up.
    let bound = CALLS + INITIAL;
    let row = Row::of("max = 5, per_success(0.1).floor(0.0)", async |url| {
        per_success(&client, url).await
    });
    row.await.assert(bound..=bound);
    // Q1, 1 + 0.1 + T0/n: less than one token may be left.
    let bound = CALLS + CALLS / 10 + INITIAL;
    let row = Row::of("max = 5, per_request(0.1).floor(0.0)", async |url| {
        per_request(&client, url).await
    });
    row.await.assert(bound - 1..=bound);
    // Also one retry for each second that it takes.
    let row = Row::of("max = 5, budget = 0.1", async |url| {
        by_default(&client, url).await
    });
    row.await.assert(CALLS + INITIAL..=bound);
    // Until it opens, and those that were under way then.
    let row = Row::of("max = 5, breaker of the last 20", async |url| {
        broken(&client, url).await
    });
    row.await.assert(20..=20 + AT_ONCE);
    // Those that begin together, then one of n + 1 when n have been counted and none was accepted.
    let row = Row::of("max = 5, adaptive throttle", async |url| {
        throttled(&client, url).await
    });
    row.await.assert(AT_ONCE..=3 * AT_ONCE);

    let backoff = backon::ExponentialBuilder::default().with_min_delay(MS);
    let row = Row::of("backon, its 3 retries", async |url| {
        let attempt = || get(&client, url);
        attempt.retry(backoff.with_max_delay(2 * MS)).await
    });
    row.await.assert(4 * CALLS..=4 * CALLS);
    let row = Row::of("tokio-retry2, 3 retries", async |url| {
        let attempt = async || Ok(get(&client, url).await?);
        let delays = tokio_retry2::strategy::FixedInterval::from_millis(1).take(3);
        tokio_retry2::Retry::spawn(delays, attempt).await
    });
    row.await.assert(4 * CALLS..=4 * CALLS);

    let policy = reqwest_retry::policies::ExponentialBackoff::builder().retry_bounds(MS, 2 * MS);
    let retrying = reqwest_middleware::ClientBuilder::new(client.clone())
        .with(RetryTransientMiddleware::new_with_policy(
            policy.build_with_max_retries(3),
        ))
        .build();
    let row = Row::of("reqwest-retry, 3 retries", async |url| {
        let answer = retrying.get(url).send().await;
        answer.unwrap().error_for_status()
    });
    row.await.assert(4 * CALLS..=4 * CALLS);

    let mut policy = Attempts {
        retries: 3,
        budget: None,
    };
    let row = Row::of("tower::retry, 3 retries", async |url| {
        by_tower(&client, url, policy.clone()).await
    });
    row.await.assert(4 * CALLS..=4 * CALLS);
    // Its reserve is the floor of the whole `ttl`: 10 a second for 10 seconds.
    policy.budget = Some(Arc::default());
    let row = Row::of("tower::retry, 3 retries, TpsBudget", async |url| {
        by_tower(&client, url, policy.clone()).await
    });
    row.await.assert(CALLS + 100..=CALLS + 300);
}
