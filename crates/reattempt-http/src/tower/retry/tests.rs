//! The time between two attempts: a service that waits for room, and one that never has room again.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use core::future::{Ready, ready};
use core::task::{Context, Poll};
use core::time::Duration;
use std::io::{Error, ErrorKind};
use std::sync::{Arc, Mutex, Weak};

use reattempt_core::Verdict;
use reattempt_policy::{Codes, OnCode};
use retry_runtime::Policy;
use retry_runtime::observe::{self, Event};
use tower::{Layer as _, Service, ServiceExt as _};

use super::RetryLayer;
use super::classifier::{ErrorClassifier, FnClassifier, JudgeAnswer, StatusClassifier};
use super::idempotency::AlwaysIdempotent;

const POLICY: Policy = Policy::new().base(Duration::from_millis(1));

type Answer = Result<Arc<u32>, Error>;

/// Has room for one answer at a time, as a pool of one connection.
#[derive(Clone, Default)]
struct Single {
    last: Arc<Mutex<Weak<u32>>>,
}

impl Service<()> for Single {
    type Response = Arc<u32>;
    type Error = Error;
    type Future = Ready<Answer>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        match self.last.lock().unwrap().strong_count() {
            0 => Poll::Ready(Ok(())),
            _ => Poll::Pending,
        }
    }

    fn call(&mut self, (): ()) -> Self::Future {
        let answer = Arc::new(0);
        *self.last.lock().unwrap() = Arc::downgrade(&answer);
        ready(Ok(answer))
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_does_not_keep_the_room_of_the_next_attempt() {
    let layer = RetryLayer::new(POLICY).on_answer(|answer: &Answer| answer.is_ok());
    let call = layer.layer(Single::default()).oneshot(());
    let answer = tokio::time::timeout(Duration::from_secs(60), call).await;
    assert!(answer.unwrap().is_ok());
}

/// Is closed after its first call.
#[derive(Clone, Default)]
struct Once {
    closed: bool,
}

impl Service<()> for Once {
    type Response = ();
    type Error = Error;
    type Future = Ready<Result<(), Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let was_closed = core::mem::replace(&mut self.closed, true);
        Poll::Ready(if was_closed {
            Err(Error::other("closed"))
        } else {
            Ok(())
        })
    }

    fn call(&mut self, (): ()) -> Self::Future {
        ready(Err(ErrorKind::TimedOut.into()))
    }
}

#[tokio::test(start_paused = true)]
async fn the_reason_why_a_service_is_not_ready_is_reported() {
    let call = RetryLayer::new(POLICY).layer(Once::default()).oneshot(());
    let (answer, seen) = reported(call).await;
    assert_eq!(answer.unwrap_err().to_string(), "closed");
    let expected = [
        ("attempt_failed", "timed out"),
        ("retry", "timed out"),
        ("attempt_failed", "closed"),
        ("gave_up", "closed"),
    ];
    let expected = expected.map(|(name, message)| (name, Some(message.to_owned())));
    assert_eq!(seen, expected);
}

/// An error of the same layer has its own message.
#[tokio::test(start_paused = true)]
async fn a_status_that_is_retried_is_reported() {
    let calls = Arc::new(Mutex::new(0));
    let service = tower::service_fn(move |_: http::Request<()>| {
        let mut calls = calls.lock().unwrap();
        *calls += 1;
        let mut answer = http::Response::new(());
        if *calls == 1 {
            *answer.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
        }
        ready(if *calls == 2 {
            Err(Error::from(ErrorKind::TimedOut))
        } else {
            Ok(answer)
        })
    });
    let call = RetryLayer::http(POLICY).layer(service);
    let (answer, seen) = reported(call.oneshot(http::Request::new(()))).await;
    assert_eq!(answer.unwrap().status(), 200);
    let expected = [
        ("attempt_failed", "503 Service Unavailable"),
        ("retry", "503 Service Unavailable"),
        ("attempt_failed", "timed out"),
        ("retry", "timed out"),
        ("recovered", "timed out"),
    ];
    let expected = expected.map(|(name, message)| (name, Some(message.to_owned())));
    assert_eq!(seen, expected);
}

/// Returns the names and messages of the events of a call, too.
async fn reported<T>(call: impl Future<Output = T>) -> (T, Vec<(&'static str, Option<String>)>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let observer = move |event: &Event<'_>| {
        let message = event.facts().and_then(|facts| facts.error_message());
        let event = (event.name(), message.map(str::to_owned));
        kept.lock().unwrap().push(event);
    };
    let answer = observe::scope(Arc::new(observer), call).await;
    let seen = core::mem::take(&mut *seen.lock().unwrap());
    (answer, seen)
}

/// A request that cannot be sent again is final, whatever a table of the policy says of the answer.
#[tokio::test(start_paused = true)]
async fn a_code_does_not_bring_a_request_back() {
    const CODES: Codes = Codes::new(&[OnCode::transient("503")]);
    let service = tower::service_fn(|_: http::Request<()>| {
        let answer = http::Response::builder().status(503).body(());
        ready(Ok::<_, Error>(answer.unwrap()))
    });
    let layer = RetryLayer::http(POLICY.codes(CODES)).clone_request(|_: &_| None);
    let call = layer.layer(service).oneshot(http::Request::new(()));
    let (answer, seen) = reported(call).await;
    assert_eq!(answer.unwrap().status(), 503);
    let seen: Vec<_> = seen.iter().map(|(name, _)| *name).collect();
    assert_eq!(seen, ["attempt_failed", "gave_up"]);
}

/// What `on` says of an error holds; what it says of an answer matters only where the answer is not final.
#[test]
fn a_function_judges_answers_and_errors() {
    let judged = |answer: &Result<Verdict, Verdict>| {
        let classifier = FnClassifier {
            on: |answer: &Result<Verdict, Verdict>| answer.unwrap_or_else(|verdict| verdict),
            idempotency: AlwaysIdempotent,
        };
        JudgeAnswer::<(), _, _>::judge(&classifier, answer)
    };
    for verdict in [
        Verdict::Transient,
        Verdict::Refused,
        Verdict::RetryForbidden,
    ] {
        assert_eq!(judged(&Ok(verdict)), Some(verdict));
        assert_eq!(judged(&Err(verdict)), Some(verdict));
    }
    assert_eq!(judged(&Ok(Verdict::Permanent)), None);
    assert_eq!(judged(&Err(Verdict::Permanent)), Some(Verdict::Permanent));
}

/// The caller that cuts it off and tries again makes a single attempt.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_cut_off_after_a_failure_has_given_up() {
    let calls = Arc::new(Mutex::new(0));
    let count = Arc::clone(&calls);
    let service = tower::service_fn(move |()| {
        let mut calls = count.lock().unwrap();
        *calls += 1;
        let hangs = *calls == 2;
        async move {
            if hangs {
                core::future::pending::<()>().await;
            }
            Err::<(), Error>(ErrorKind::TimedOut.into())
        }
    });
    let service = RetryLayer::new(POLICY).layer(service);
    let outer = Policy::new().max(2).timeout(Duration::from_millis(100));
    let outer = outer.on(|_: &Error| true);
    let answer = outer.try_run_async(async || service.clone().oneshot(()).await);
    assert_eq!(answer.await.unwrap_err().attempts(), 2);
    assert_eq!(*calls.lock().unwrap(), 2 + 1);
}

/// What an event says of an answer: its code, or the status of what stands in between.
#[cfg(feature = "tonic014")]
#[test]
fn the_text_of_an_answer_of_grpc() {
    use super::classifier::GrpcClassifier;
    let answer = |builder: http::response::Builder| {
        let answer: Result<_, Error> = Ok(builder.body(()).unwrap());
        JudgeAnswer::<(), _, Error>::message(&GrpcClassifier, &answer)
    };
    let coded = answer(http::Response::builder().header("grpc-status", "14"));
    assert_eq!(coded.as_deref(), Some("grpc-status 14"));
    let between = answer(http::Response::builder().status(503));
    assert_eq!(between.as_deref(), Some("503 Service Unavailable"));
}

/// What a judge says of an answer: its message, whether it has the code 503, and whether a POST may come again.
fn said<J: JudgeAnswer<http::Request<()>, http::Response<()>, Error>>(
    judge: &J,
    status: Option<u16>,
) -> (Option<String>, bool, bool) {
    let answer = status.map_or_else(
        || Err(Error::from(ErrorKind::TimedOut)),
        |status| {
            let mut answer = http::Response::new(());
            *answer.status_mut() = http::StatusCode::from_u16(status).unwrap();
            Ok(answer)
        },
    );
    let mut post = http::Request::new(());
    *post.method_mut() = http::Method::POST;
    (
        judge.message(&answer),
        judge.has_code(&answer, "503"),
        judge.is_idempotent(&post),
    )
}

fn is_http(judge: &impl JudgeAnswer<http::Request<()>, http::Response<()>, Error>) -> bool {
    judge.is_http()
}

#[test]
fn each_judge_says_of_an_answer_what_it_knows() {
    let by_error = ErrorClassifier;
    assert_eq!(said(&by_error, Some(503)), (None, false, true));
    assert_eq!(
        said(&by_error, None),
        (Some("timed out".to_owned()), false, true)
    );
    let by_status = StatusClassifier::default();
    assert_eq!(
        said(&by_status, Some(503)),
        (Some("503 Service Unavailable".to_owned()), true, false)
    );
    assert_eq!(
        said(&by_status, Some(429)),
        (Some("429 Too Many Requests".to_owned()), false, false)
    );
    assert_eq!(
        said(&by_status, None),
        (Some("timed out".to_owned()), false, false)
    );
    assert!(is_http(&by_status) && !is_http(&by_error));
}
