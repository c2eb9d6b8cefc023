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
use super::idempotency::{AlwaysIdempotent, MethodIdempotency};

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

/// The code in the head, the status of a gateway, and an error: the code that each has, and its verdict.
#[cfg(feature = "tonic014")]
#[test]
fn the_judge_of_grpc_reads_heads_and_gateways() {
    use super::classifier::GrpcClassifier;
    let answer = |builder: http::response::Builder| Ok(builder.body(()).unwrap());
    let head = |code| answer(http::Response::builder().header("grpc-status", code));
    let gateway = |status: u16| answer(http::Response::builder().status(status));
    let transient = Some(Verdict::Transient);
    for (answer, code, verdict) in [
        (head("14"), "UNAVAILABLE", transient),
        (head("3"), "INVALID_ARGUMENT", Some(Verdict::Permanent)),
        (head("0"), "OK", None),
        (gateway(429), "429", transient),
        (gateway(503), "503", transient),
        (gateway(500), "500", None),
        (Err(Error::from(ErrorKind::TimedOut)), "timeout", transient),
    ] {
        let judge = &GrpcClassifier;
        assert_eq!(
            JudgeAnswer::<(), _, _>::judge(judge, &answer),
            verdict,
            "{code}"
        );
        for other in [
            "UNAVAILABLE",
            "INVALID_ARGUMENT",
            "OK",
            "429",
            "503",
            "500",
            "timeout",
        ] {
            let has_code = JudgeAnswer::<(), _, _>::has_code(judge, &answer, other);
            assert_eq!(has_code, code == other, "{code} {other}");
        }
        assert!(JudgeAnswer::<(), http::Response<()>, Error>::is_idempotent(
            judge,
            &()
        ));
    }
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
    let by_function = FnClassifier {
        on: |_: &Result<http::Response<()>, Error>| true,
        idempotency: MethodIdempotency,
    };
    for status in [Some(503), None] {
        assert_eq!(said(&by_function, status), (None, false, false));
    }
    assert!(is_http(&by_status) && !is_http(&by_error) && !is_http(&by_function));
}

/// An error has its own code; a status is one where answers are read.
#[test]
fn each_judge_knows_the_codes_of_errors() {
    type Answer = Result<http::Response<()>, Error>;
    let late: Answer = Err(ErrorKind::TimedOut.into());
    for code in ["timeout", "connection"] {
        let is_it = code == "timeout";
        let by_status = StatusClassifier::default();
        assert_eq!(
            JudgeAnswer::<http::Request<()>, _, _>::has_code(&by_status, &late, code),
            is_it
        );
        assert_eq!(
            JudgeAnswer::<http::Request<()>, _, _>::has_code(&ErrorClassifier, &late, code),
            is_it
        );
    }
    let judged = |answer: &Answer| {
        let by_status =
            JudgeAnswer::<http::Request<()>, _, _>::judge(&StatusClassifier::default(), answer);
        (
            by_status,
            JudgeAnswer::<http::Request<()>, _, _>::judge(&ErrorClassifier, answer),
        )
    };
    let transient = Some(Verdict::Transient);
    assert_eq!(judged(&late), (transient, transient));
    let bad = http::Response::builder().status(503).body(());
    assert_eq!(judged(&Ok(bad.unwrap())), (transient, None));
    assert_eq!(judged(&Ok(http::Response::new(()))), (None, None));
}
