//! Processes that share a budget: the service that they call counts them.
//!
//! A program of its own, because all services of a process count together, and these tests move its clock.
#![allow(
    clippy::await_holding_lock,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that panics has failed, and one waits for another"
)]

use std::convert::Infallible;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use reattempt::overload::budget::FailureClass;
use reattempt::protocol::{self, Edge, RETRY_CONTEXT};
use reattempt::testing::{VirtualTime, virtual_time};
use reattempt::tower::{ClientProtocol, ServerProtocol};
use reattempt::{Budget, Verdict};
use tower::{Layer as _, Service, ServiceExt as _, service_fn};

type Served = Response<String>;

/// Returns the field of the request as the body of the answer.
async fn echo(request: Request<()>) -> Result<Served, Infallible> {
    let field = request.headers().get(RETRY_CONTEXT);
    let field = field.map(|field| field.to_str().unwrap().to_owned());
    Ok(Response::new(field.unwrap_or_default()))
}

fn server() -> impl Service<Request<()>, Response = Served, Error = Infallible> + Clone {
    ServerProtocol::new().layer(service_fn(echo))
}

async fn serve(context: &str) -> Served {
    let request = Request::builder().header(RETRY_CONTEXT, context);
    let request = request.body(()).unwrap();
    server().oneshot(request).await.unwrap()
}

/// How many callers an answer names.
fn callers(answer: &HeaderMap) -> Option<u32> {
    let field = answer.get(RETRY_CONTEXT)?.to_str().unwrap();
    let (_, callers) = field.split_once("callers=")?;
    callers.split(',').next()?.parse().ok()
}

/// One test at a time, some minutes after the one before: the service has counted, and has forgotten all callers.
fn alone() -> (MutexGuard<'static, u32>, VirtualTime) {
    // How many there have been: the clock of each begins at the time of day.
    static ALONE: Mutex<u32> = Mutex::new(1);
    let mut alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let time = virtual_time();
    Process::new(0, Budget::tokens(1).cost(1)).ask();
    time.advance(HOURS * *alone);
    *alone += 1;
    (alone, time)
}

/// How long a service counts before it says a number, and remembers who has called.
const MINUTES: Duration = Duration::from_secs(180);

/// Longer than a test.
const HOURS: Duration = Duration::from_secs(100 * 3600);

/// A process of a fleet: an edge with a budget of its own, which no other has.
struct Process {
    name: String,
    budget: &'static Budget,
    edge: Edge,
}

impl Process {
    fn new(number: u32, budget: Budget) -> Self {
        let budget: &Budget = Box::leak(Box::new(budget));
        Self {
            name: format!("process-{number}"),
            budget,
            edge: Edge::new("shop").divide(budget),
        }
    }

    /// Asks the service, and learns what its answer says, whatever its status is.
    fn ask(&self) {
        let mut request = HeaderMap::new();
        self.edge.to_request(&mut request);
        let field = request[RETRY_CONTEXT].to_str().unwrap();
        let (before, own) = field.split_once("from=\"").expect("it asks");
        let (_, after) = own.split_once('"').unwrap();
        // One program plays all processes.
        let field = format!("{before}from=\"{}\"{after}", self.name);
        request.insert(RETRY_CONTEXT, HeaderValue::try_from(field).unwrap());
        let request = protocol::Request::from_headers(&request);
        let mut answer = HeaderMap::new();
        request.to_answer(&mut answer);
        self.edge.from_answer(&answer);
    }

    /// Makes a call that fails, of up to three attempts, at a service that answers or does not: its retries.
    fn fail(&self, is_dead: bool) -> u32 {
        let mut account = self.budget.account();
        let mut retries = 0;
        loop {
            if !is_dead {
                self.ask();
            }
            account.failed(Verdict::Transient);
            if retries == 2 || !account.withdraw(FailureClass::Failed) {
                return retries;
            }
            account.spend();
            retries += 1;
        }
    }
}

/// The retries of so many processes in a minute of 2,000 calls that fail, after a second in which all was well.
fn retries(time: &VirtualTime, processes: u32, budget: fn() -> Budget, is_dead: bool) -> u32 {
    let all: Vec<_> = (0..processes)
        .map(|number| Process::new(number, budget()))
        .collect();
    for _ in 0..2 {
        all.iter().for_each(Process::ask);
    }
    let mut state = RandomState::new().hash_one(0);
    let mut retries = 0;
    for _ in 0..2_000 {
        time.advance(Duration::from_millis(30));
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let drawn = usize::try_from(state >> 33).unwrap() % all.len();
        retries += all[drawn].fail(is_dead);
    }
    retries
}

/// All have 70 tokens, and nothing or little that comes with the time.
const BUDGETS: [fn() -> Budget; 3] = [
    || Budget::tokens(70).cost(1),
    || Budget::refunding(70),
    || Budget::per_success(0.1).initial(70).floor(0.0),
];

/// 1.2 times what one budget allows.
const MOST: u32 = 84;

#[test]
fn a_hundred_processes_make_the_retries_of_one() {
    let (_alone, time) = alone();
    for (kind, budget) in BUDGETS.into_iter().enumerate() {
        let refused: Vec<_> = (0..5).map(|_| retries(&time, 100, budget, false)).collect();
        let dead: Vec<_> = (0..100)
            .map(|_| retries(&time, 100, budget, true))
            .collect();
        println!("{kind}: {refused:?} of a service that refuses, {dead:?} of a dead one");
        let within = dead.iter().filter(|retries| **retries <= MOST).count();
        assert!(within >= 95, "{kind}: {within} of 100");
        let mean = dead.iter().sum::<u32>() / 100;
        assert!((50..=80).contains(&mean), "{kind}: {mean} in the mean");
        // Of five, one may be far from the mean.
        let within = refused.iter().filter(|retries| **retries <= MOST).count();
        assert!(within >= 4, "{kind}: {refused:?}");
    }
}

/// Whoever never reached the service has the whole budget, and no more.
#[test]
fn in_a_partition_nobody_has_more_than_alone() {
    let (_alone, time) = alone();
    for budget in BUDGETS {
        let cut_off = Process::new(1, budget());
        time.advance(Duration::from_secs(2));
        let made: u32 = (0..200)
            .map(|_| {
                time.advance(Duration::from_secs(1));
                cut_off.fail(true)
            })
            .sum();
        // The first second of one that refunds is free, and 200 seconds and calls bring it 4 tokens.
        assert!((70..=76).contains(&made), "{made}");
    }
}

#[tokio::test]
async fn a_callee_counts_those_who_ask() {
    static SHOP: Budget = Budget::tokens(500);
    let (_alone, time) = alone();
    let shop = Edge::new("shop").divide(&SHOP);
    let client = ClientProtocol::from(shop).layer(server());
    let asked = client.clone().oneshot(Request::new(())).await.unwrap();
    assert!(asked.into_body().starts_with("from=\""));

    for caller in 0..60 {
        serve(&format!("from=\"caller-{caller}\", attempt=2")).await;
    }
    let answer = client.clone().oneshot(Request::new(())).await.unwrap();
    let count = callers(answer.headers()).expect("it has asked");
    // Of 61 callers, few share a bit.
    assert!((45..=65).contains(&count), "{count}");
    assert!((SHOP.balance() - 500.0 / f64::from(count)).abs() < 1e-9);

    // It counts until the next answer, and those who do not call any more do not.
    time.advance(MINUTES);
    shop.from_answer(&HeaderMap::new());
    assert!(SHOP.balance() < 500.0 / 44.0);
    client.oneshot(Request::new(())).await.unwrap();
    assert!((SHOP.balance() - 500.0).abs() < 1e-9);
}

#[tokio::test]
async fn who_does_not_ask_says_and_hears_nothing() {
    let client = ClientProtocol::to("shop").layer(server());
    let answer = client.oneshot(Request::new(())).await.unwrap();
    assert_eq!(answer.headers().get(RETRY_CONTEXT), None);
    assert_eq!(answer.into_body(), "attempt=1");
}

/// A callee that has too much to do still says how many have it so.
#[tokio::test]
async fn a_refusal_names_the_callers() {
    let _alone = alone();
    let answer = serve("left=0, from=\"late\"").await;
    assert_eq!(answer.status(), StatusCode::GATEWAY_TIMEOUT);
    assert!(callers(answer.headers()) >= Some(1));
    assert_eq!(callers(serve("left=0").await.headers()), None);
}

/// What a callee behind this one has said of its own callers is not passed on.
#[test]
fn an_answer_names_the_callers_of_its_own_service() {
    let _alone = alone();
    for (asked, own) in [("from=\"a\"", Some(1)), ("attempt=2", None)] {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_CONTEXT, HeaderValue::from_static(asked));
        let request = protocol::Request::from_headers(&headers);
        let mut answer = HeaderMap::new();
        answer.insert(RETRY_CONTEXT, HeaderValue::from_static("callers=999999"));
        request.to_answer(&mut answer);
        assert_eq!(callers(&answer), own, "{asked}");
    }
}

/// No number makes a budget larger.
#[test]
fn a_hostile_number_takes_retries_and_gives_none() {
    static SHOP: Budget = Budget::tokens(500);
    let shop = Edge::new("hostile").divide(&SHOP);
    for (callers, balance) in [
        ("1", 500.0),
        ("0", 500.0),
        ("-5", 500.0),
        ("2", 250.0),
        ("0.5", 250.0),
        ("x", 250.0),
        ("999999999999999", 500.0 / 4_294_967_295.0),
        ("1", 500.0),
    ] {
        let mut answer = HeaderMap::new();
        let field = HeaderValue::try_from(format!("callers={callers}")).unwrap();
        answer.insert(RETRY_CONTEXT, field);
        shop.from_answer(&answer);
        assert!((SHOP.balance() - balance).abs() < 1e-9, "{callers}");
    }
}
