//! What has used up its retries, in the answers of a server and in the requests to it.

use std::cell::Cell;
use std::convert::Infallible;

use axum::http::{HeaderMap, Request, Response, Version};
use reattempt::protocol::{Edge, RETRY_CONTEXT};
use reattempt::tower::ServerProtocol;
use reattempt::{deadline, retry, retry_block};
use tower::{Layer as _, ServiceExt as _, service_fn};

#[retry(max = 3, backoff = "none", on(_))]
fn fails(calls: &Cell<u32>) -> Result<(), &'static str> {
    calls.set(calls.get() + 1);
    Err("down")
}

/// Sends a request with this field to a server whose handler calls `fails`. Returns how often that was attempted, and the
/// field of the answer.
async fn served(field: Option<&str>) -> (u32, Option<String>) {
    let calls = Cell::new(0);
    let server = ServerProtocol::new().layer(service_fn(async |_: Request<()>| {
        let _ = fails(&calls);
        Ok::<_, Infallible>(Response::new(()))
    }));
    let mut request = Request::builder();
    if let Some(field) = field {
        request = request.header(RETRY_CONTEXT, field);
    }
    let answer = server.oneshot(request.body(()).unwrap()).await.unwrap();
    let field = answer.headers().get(RETRY_CONTEXT);
    let field = field.map(|field| field.to_str().unwrap().to_owned());
    (calls.get(), field)
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_a_retry_names_makes_one_attempt() {
    let (calls, answer) = served(Some("attempt=1")).await;
    let answer = answer.expect("it names what was used up");
    let names = answer.strip_prefix("used=(\"").unwrap();
    let name = names.strip_suffix("\")").unwrap();
    assert_eq!((calls, name.len()), (3, 8), "{answer}");

    let used = format!("used=(\"{name}\")");
    // It has nothing new to say.
    assert_eq!(served(Some(&format!("attempt=2, {used}"))).await, (1, None));
    // A first attempt has used up nothing, whatever it says.
    for first in [format!("attempt=1, {used}"), used] {
        assert_eq!(
            served(Some(&first)).await,
            (3, Some(answer.clone())),
            "{first}"
        );
    }
    // The name of another operation, and that behind an edge.
    for other in ["00000000", &format!("00000000.{name}")] {
        let retry = format!("attempt=2, used=(\"{other}\")");
        assert_eq!(
            served(Some(&retry)).await,
            (3, Some(answer.clone())),
            "{retry}"
        );
    }
    assert_eq!(served(None).await, (3, None), "nobody reads it");
}

/// What a first attempt names says nothing to the retries in its handler either.
#[tokio::test(start_paused = true)]
async fn a_first_attempt_names_nothing() {
    let (_, answer) = served(Some("attempt=1")).await;
    let calls = Cell::new(0);
    let server = ServerProtocol::new().layer(service_fn(async |_: Request<()>| {
        let mut attempts = 0;
        let _: Result<(), &str> = retry_block!(max = 2, backoff = "none", on(_), {
            attempts += 1;
            if attempts == 1 {
                Err("early")
            } else {
                fails(&calls)
            }
        });
        Ok::<_, Infallible>(Response::new(()))
    }));
    let request = Request::builder().header(RETRY_CONTEXT, answer.unwrap());
    server.oneshot(request.body(()).unwrap()).await.unwrap();
    assert_eq!(calls.get(), 3);
}

/// A client of gRPC that has a deadline, and does not know the field.
#[tokio::test(start_paused = true)]
async fn nobody_is_answered_who_does_not_ask() {
    let server = ServerProtocol::new().layer(service_fn(async |_: Request<()>| {
        assert!(deadline::remaining().is_some());
        let _ = fails(&Cell::new(0));
        Ok::<_, Infallible>(Response::new(()))
    }));
    let request = Request::post("/").version(Version::HTTP_2);
    let request = request.header("grpc-timeout", "1S").body(()).unwrap();
    let answer = server.oneshot(request).await.unwrap();
    assert!(answer.headers().is_empty(), "{:?}", answer.headers());
}

/// Inside of a process that serves requests, too, an operation is a place in the code, and not its name.
#[tokio::test(start_paused = true)]
async fn a_name_is_shared_with_other_processes_alone() {
    #[retry(name = "twin", max = 3, backoff = "none", on(_))]
    fn one(calls: &Cell<u32>) -> Result<(), &'static str> {
        calls.set(calls.get() + 1);
        Err("down")
    }

    #[retry(name = "twin", max = 3, backoff = "none", on(_))]
    fn other(calls: &Cell<u32>) -> Result<(), &'static str> {
        calls.set(calls.get() + 1);
        Err("down")
    }

    let (_, answer) = served(Some("attempt=1")).await;
    assert!(answer.is_some(), "this process has served a request");
    let (first, second) = (Cell::new(0), Cell::new(0));
    let mut attempts = 0;
    let _: Result<(), &str> = retry_block!(max = 2, backoff = "none", on(_), {
        attempts += 1;
        if attempts == 1 {
            one(&first)
        } else {
            other(&second)
        }
    });
    assert_eq!((first.get(), second.get()), (3, 3));
}

/// What a handler itself says of a retry stays.
#[tokio::test(start_paused = true)]
async fn what_the_handler_says_stays() {
    let server = ServerProtocol::new().layer(service_fn(async |_: Request<()>| {
        let _ = fails(&Cell::new(0));
        let answer = Response::builder().header(RETRY_CONTEXT, "final, after=5");
        Ok::<_, Infallible>(answer.body(()).unwrap())
    }));
    let request = Request::builder().header(RETRY_CONTEXT, "attempt=1");
    let answer = server.oneshot(request.body(()).unwrap()).await.unwrap();
    let field = answer.headers()[RETRY_CONTEXT].to_str().unwrap();
    assert!(field.starts_with("after=5, final, used=(\""), "{field}");
}

/// A caller sends what one callee has said to that callee, in the retries of the same call.
#[tokio::test(start_paused = true)]
async fn names_go_back_along_their_edge() {
    let (asked, other) = (Edge::new("asked"), Edge::new("other"));
    let sent = |edge: Edge| {
        let headers = edge.headers();
        headers[RETRY_CONTEXT].to_str().unwrap().to_owned()
    };
    let mut attempts = Vec::new();
    let result: Result<(), &str> = retry_block!(max = 2, backoff = "none", on(_), {
        attempts.push((sent(asked), sent(other)));
        let mut answer = HeaderMap::new();
        answer.insert(RETRY_CONTEXT, "used=(\"a\" \"b.c\")".parse().unwrap());
        asked.from_answer(&answer);
        Err("again")
    });
    assert!(result.is_err());
    let first = ("attempt=1".to_owned(), "attempt=1".to_owned());
    assert_eq!(attempts[0], first);
    assert!(
        attempts[1].0.starts_with("attempt=2, used=(\""),
        "{attempts:?}"
    );
    assert!(attempts[1].0.contains("\"a\"") && attempts[1].0.contains("\"b.c\""));
    assert_eq!(attempts[1].1, "attempt=2");
    // Another call knows nothing of it.
    assert_eq!((sent(asked), sent(other)), first);
}

/// The newest of a callee stays the newest.
#[tokio::test(start_paused = true)]
async fn the_order_of_names_stays() {
    let server = ServerProtocol::new().layer(service_fn(async |_: Request<()>| {
        let names: Vec<String> = (0..16).map(|number| format!("\"n{number}\"")).collect();
        let mut answer = HeaderMap::new();
        let field = format!("used=({})", names.join(" "));
        answer.insert(RETRY_CONTEXT, field.parse().unwrap());
        Edge::new("below").from_answer(&answer);
        Ok::<_, Infallible>(Response::new(()))
    }));
    let request = Request::builder().header(RETRY_CONTEXT, "attempt=1");
    let answer = server.oneshot(request.body(()).unwrap()).await.unwrap();
    let field = answer.headers()[RETRY_CONTEXT].to_str().unwrap();
    let numbers: Vec<&str> = field.split(".n").skip(1).collect();
    let first: Vec<_> = numbers
        .iter()
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let expected: Vec<String> = (0..16).map(|number: u32| number.to_string()).collect();
    assert_eq!(first, expected);
}

/// A request names the sixteen newest, and an answer as well.
#[tokio::test(start_paused = true)]
async fn sixteen_names() {
    let server = ServerProtocol::new().layer(service_fn(async |_: Request<()>| {
        for number in 0..40_usize {
            let mut answer = HeaderMap::new();
            let name = format!("used=(\"n{number}\")");
            answer.insert(RETRY_CONTEXT, name.parse().unwrap());
            Edge::new(["below", "beside"][number % 2]).from_answer(&answer);
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        Ok::<_, Infallible>(Response::new(()))
    }));
    let request = Request::builder().header(RETRY_CONTEXT, "attempt=1");
    let answer = server.oneshot(request.body(()).unwrap()).await.unwrap();
    let field = answer.headers()[RETRY_CONTEXT].to_str().unwrap();
    let names: Vec<&str> = field.split(".n").skip(1).collect();
    let numbers = names
        .iter()
        .map(|name| name.trim_end_matches(|end: char| !end.is_ascii_digit()));
    let numbers: Vec<u32> = numbers
        .map(|name| name.split('"').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(numbers, (24..40).rev().collect::<Vec<_>>());
}
