//! Processes that share a budget: the callee counts them.

use std::convert::Infallible;

use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use reattempt::Budget;
use reattempt::protocol::{self, Edge, RETRY_CONTEXT};
use reattempt::tower::{ClientProtocol, ServerProtocol};
use tower::{Layer as _, Service, ServiceExt as _, service_fn};

type Served = Response<String>;

/// Answers with the field of the request.
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

#[tokio::test]
async fn a_callee_counts_those_who_ask() {
    static SHOP: Budget = Budget::tokens(500);
    let shop = Edge::new("shop").divide(&SHOP);
    let client = ClientProtocol::from(shop).layer(server());
    let asked = client.clone().oneshot(Request::new(())).await.unwrap();
    assert!(asked.into_body().starts_with("from=\""));

    for caller in 0..60 {
        serve(&format!("from=\"caller-{caller}\", attempt=2")).await;
    }
    let answer = client.oneshot(Request::new(())).await.unwrap();
    // Other tests of this process ask, too.
    let count = callers(answer.headers()).expect("it has asked");
    assert!((55..=80).contains(&count), "{count}");
    assert!((SHOP.balance() - 500.0 / f64::from(count)).abs() < 1e-9);

    // It counts until the next answer.
    shop.from_answer(&HeaderMap::new());
    assert!(SHOP.balance() < 500.0 / 55.0);
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
    let answer = serve("left=0, from=\"late\"").await;
    assert_eq!(answer.status(), StatusCode::GATEWAY_TIMEOUT);
    assert!(callers(answer.headers()) >= Some(1));
    assert_eq!(callers(serve("left=0").await.headers()), None);
}

/// What a callee behind this one has said of its own callers is not passed on.
#[test]
fn an_answer_names_the_callers_of_its_own_service() {
    let mut headers = HeaderMap::new();
    headers.insert(RETRY_CONTEXT, HeaderValue::from_static("from=\"a\""));
    let mut request = protocol::Request::from_headers(&headers);
    let mut answer = HeaderMap::new();
    answer.insert(RETRY_CONTEXT, HeaderValue::from_static("callers=999999"));
    request.run(|| ());
    request.to_answer(&mut answer);
    assert!(callers(&answer) < Some(999_999));
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
