//! `RetryLayer` around services of tower, hyper, axum and reqwest.

use std::collections::VecDeque;
use std::future::{Ready, pending, ready};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{Request, Response};
use reattempt::tower::{ClientProtocol, RetryLayer};
use reattempt::{Budget, Classify, Policy, Verdict, deadline, protocol, retry, testing};
use tower::{Layer as _, Service, ServiceBuilder, ServiceExt as _, service_fn};

use crate::support::{Notes, POLICY, SECOND};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Classify)]
enum Fault {
    #[retry(transient)]
    Lost,
    #[retry(refused)]
    Closed,
    #[retry(permanent)]
    Wrong,
}

type Answer = Result<&'static str, Fault>;

/// Answers by script; a clone has to be ready before it is called.
#[derive(Debug)]
struct Scripted {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    calls: Arc<AtomicU32>,
    is_ready: bool,
}

impl Scripted {
    fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self {
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            calls: Arc::default(),
            is_ready: false,
        }
    }

    fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }
}

impl Clone for Scripted {
    fn clone(&self) -> Self {
        Self {
            answers: Arc::clone(&self.answers),
            calls: Arc::clone(&self.calls),
            is_ready: false,
        }
    }
}

impl<Req> Service<Req> for Scripted {
    type Response = &'static str;
    type Error = Fault;
    type Future = Ready<Answer>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        self.is_ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Req) -> Self::Future {
        assert!(
            std::mem::take(&mut self.is_ready),
            "called before it was ready"
        );
        self.calls.fetch_add(1, Ordering::Relaxed);
        ready(
            self.answers
                .lock()
                .unwrap()
                .pop_front()
                .unwrap_or(Ok("later")),
        )
    }
}

#[tokio::test]
async fn errors_are_retried_as_they_say() {
    static NOTES: Notes = Notes::new();
    let service = Scripted::new([Err(Fault::Lost), Err(Fault::Closed)]);
    let retried = RetryLayer::new(POLICY).timer(&NOTES).layer(service.clone());
    assert_eq!(retried.clone().oneshot(7).await, Ok("later"));
    assert_eq!(service.calls(), 3);
    assert_eq!(NOTES.delays(), [SECOND, 2 * SECOND]);

    let service = Scripted::new([Err(Fault::Wrong)]);
    let retried = RetryLayer::new(POLICY).layer(service.clone());
    assert_eq!(retried.oneshot(7).await, Err(Fault::Wrong));
    assert_eq!(service.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_last_error_comes_untouched() {
    let service = Scripted::new([Err(Fault::Lost), Err(Fault::Lost), Err(Fault::Closed)]);
    let retried = RetryLayer::new(POLICY).layer(service.clone());
    assert_eq!(retried.oneshot(()).await, Err(Fault::Closed));
    assert_eq!(service.calls(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_error_while_not_ready_ends_the_call() {
    #[derive(Clone)]
    struct Closes(Scripted);

    impl Service<()> for Closes {
        type Response = &'static str;
        type Error = Fault;
        type Future = Ready<Answer>;

        fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
            if self.0.calls() > 0 {
                return Poll::Ready(Err(Fault::Wrong));
            }
            Service::<()>::poll_ready(&mut self.0, cx)
        }

        fn call(&mut self, request: ()) -> Self::Future {
            self.0.call(request)
        }
    }
    let service = Scripted::new([Err(Fault::Lost)]);
    let retried = RetryLayer::new(POLICY).layer(Closes(service.clone()));
    let record = testing::record();
    assert_eq!(retried.oneshot(()).await, Err(Fault::Wrong));
    assert_eq!(service.calls(), 1);
    assert_eq!(record.calls()[0].end().to_string(), "gave up (permanent)");
}

/// Has no room after its first call, until a moment.
#[derive(Clone)]
struct Full {
    inner: Scripted,
    until: tokio::time::Instant,
}

impl Service<()> for Full {
    type Response = &'static str;
    type Error = Fault;
    type Future = Ready<Answer>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        if self.inner.calls() > 0 && tokio::time::Instant::now() < self.until {
            let (waker, until) = (cx.waker().clone(), self.until);
            tokio::spawn(async move {
                tokio::time::sleep_until(until).await;
                waker.wake();
            });
            return Poll::Pending;
        }
        Service::<()>::poll_ready(&mut self.inner, cx)
    }

    fn call(&mut self, request: ()) -> Self::Future {
        self.inner.call(request)
    }
}

#[tokio::test(start_paused = true)]
async fn room_is_waited_for_up_to_the_deadline() {
    let full = async |room_after: u64, policy: Policy, above: Option<Duration>| {
        let start = tokio::time::Instant::now();
        let until = start + Duration::from_secs(room_after);
        let inner = Scripted::new([Err(Fault::Lost)]);
        let service = Full {
            inner: inner.clone(),
            until,
        };
        let record = testing::record();
        let call = RetryLayer::new(policy).layer(service).oneshot(());
        let answer = match above {
            Some(above) => deadline::within(above, call).await,
            None => call.await,
        };
        let seconds = start.elapsed().as_secs_f64().round();
        (
            answer,
            inner.calls(),
            format!("{seconds} s"),
            record.calls()[0].end().to_string(),
        )
    };
    let (ten, success) = (POLICY.deadline(10 * SECOND), "succeeded".to_owned());
    assert_eq!(
        full(5, ten, None).await,
        (Ok("later"), 2, "5 s".to_owned(), success.clone())
    );
    assert_eq!(
        full(3600, POLICY, None).await,
        (Ok("later"), 2, "3600 s".to_owned(), success)
    );
    let over = (
        Err(Fault::Lost),
        1,
        "10 s".to_owned(),
        "gave up (deadline)".to_owned(),
    );
    assert_eq!(full(3600, ten, None).await, over);
    assert_eq!(full(3600, POLICY, Some(10 * SECOND)).await, over);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_not_clone_is_made_anew() {
    #[derive(Debug, PartialEq)]
    struct Letter(u32);

    let service = Scripted::new([Err(Fault::Lost), Err(Fault::Lost)]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let outer = ServiceBuilder::new()
        .layer(RetryLayer::new(POLICY).clone_request(|letter: &Letter| Some(Letter(letter.0 + 1))))
        .map_request(move |letter: Letter| notes.lock().unwrap().push(letter.0))
        .service(service.clone());
    assert_eq!(outer.oneshot(Letter(1)).await, Ok("later"));
    assert_eq!(*seen.lock().unwrap(), [1, 2, 3]);

    let service = Scripted::new([Err(Fault::Lost)]);
    let once = RetryLayer::new(POLICY).clone_request(|_: &Letter| None);
    let answer = once.layer(service.clone()).oneshot(Letter(1)).await;
    assert_eq!((answer, service.calls()), (Err(Fault::Lost), 1));
}

#[tokio::test(start_paused = true)]
async fn a_function_judges_the_answer() {
    let service = Scripted::new([Ok("wait"), Err(Fault::Wrong)]);
    let layer = RetryLayer::new(POLICY).on_answer(|answer: &Answer| *answer != Ok("later"));
    assert_eq!(layer.layer(service.clone()).oneshot(()).await, Ok("later"));
    assert_eq!(service.calls(), 3);

    let service = Scripted::new([Ok("wait"), Ok("never")]);
    let layer = RetryLayer::new(POLICY).on_answer(|answer: &Answer| match answer {
        Ok("wait") => Verdict::TransientAfter(5 * SECOND),
        _ => Verdict::Permanent,
    });
    let start = tokio::time::Instant::now();
    assert_eq!(layer.layer(service.clone()).oneshot(()).await, Ok("never"));
    assert!(start.elapsed() >= 5 * SECOND && start.elapsed() < 6 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn retries_are_observed_and_recorded() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let layer = RetryLayer::new(POLICY).name("letters").on_retry(
        move |retry: &reattempt::Retry<'_, Answer>| {
            let note = (retry.attempt(), retry.delay(), *retry.error().unwrap());
            notes.lock().unwrap().push((retry.operation(), note));
        },
    );
    let service = Scripted::new([Err(Fault::Lost), Err(Fault::Closed)]);
    let record = testing::record();
    layer.layer(service).oneshot(()).await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [
            ("letters", (1, SECOND, Err(Fault::Lost))),
            ("letters", (2, 2 * SECOND, Err(Fault::Closed)))
        ]
    );
    let calls = record.calls();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].operation(), "letters");
    assert_eq!(calls[0].attempts().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_seen_inside_and_kept() {
    let slow = service_fn(async |request: Request<()>| {
        tokio::time::sleep(2 * SECOND).await;
        let left = protocol::Request::from_headers(request.headers()).left();
        Err::<Response<()>, _>((left, deadline::attempt()))
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let policy = POLICY.max(4).deadline(10 * SECOND);
    let layer = RetryLayer::new(policy).on_answer(move |answer: &Result<Response<()>, _>| {
        notes.lock().unwrap().push(*answer.as_ref().unwrap_err());
        true
    });
    let service = layer.layer(ClientProtocol::to("slow").layer(slow));
    let start = tokio::time::Instant::now();
    assert!(service.oneshot(Request::new(())).await.is_err());
    // Attempts of 2 s, delays of 1 s and 2 s; the next, of 4 s, would not end in time.
    assert_eq!(start.elapsed(), 9 * SECOND);
    let left = [10, 7, 3].map(|left| Some(left * SECOND));
    assert_eq!(
        *seen.lock().unwrap(),
        [(left[0], 1), (left[1], 2), (left[2], 3)]
    );
}

#[tokio::test(start_paused = true)]
async fn inside_a_retry_there_is_one_attempt() {
    #[retry(max = 3, base = "1ms")]
    async fn outer(call: &dyn Fn() -> BoxFuture<'static, Answer>) -> Answer {
        call().await
    }
    let calls = async |service: &Scripted, call: &dyn Fn() -> BoxFuture<'static, Answer>| {
        assert_eq!(outer(call).await, Err(Fault::Lost));
        service.calls()
    };
    let failing = || Scripted::new([Err(Fault::Lost); 9]);
    let layer = RetryLayer::new(POLICY);

    // A client is one operation.
    let service = failing();
    let client = layer.layer(service.clone());
    assert_eq!(
        calls(&service, &|| client.clone().oneshot(()).boxed()).await,
        5
    );
    // Another client is another one, unless it has the same name.
    let service = failing();
    let another = || layer.layer(service.clone()).oneshot(()).boxed();
    assert_eq!(calls(&service, &another).await, 9);
    let service = failing();
    let named = || {
        layer
            .clone()
            .name("named")
            .layer(service.clone())
            .oneshot(())
            .boxed()
    };
    assert_eq!(calls(&service, &named).await, 5);
}

#[tokio::test(start_paused = true)]
async fn a_budget_ends_the_retries_of_all() {
    static BUDGET: Budget = Budget::grpc(10, 0.1);
    let service = Scripted::new([Err(Fault::Lost); 20]);
    let layer = RetryLayer::new(POLICY.max(4)).budget(&BUDGET);
    let retried = layer.layer(service.clone());
    assert!(retried.clone().oneshot(()).await.is_err());
    assert_eq!(service.calls(), 4);
    // The fifth failure leaves half of the tokens, which allows no retry.
    let record = testing::record();
    assert!(retried.clone().oneshot(()).await.is_err());
    assert_eq!(service.calls(), 5);
    assert_eq!(record.calls()[0].end().to_string(), "gave up (budget)");
    assert!(retried.oneshot(()).await.is_err());
    assert_eq!(service.calls(), 6);
}

#[tokio::test(start_paused = true)]
async fn dropped_it_leaves_nothing() {
    let dropped = Arc::new(());
    let kept = Arc::clone(&dropped);
    let service = service_fn(move |(): ()| {
        let kept = Arc::clone(&kept);
        async move {
            let answer = pending::<Answer>().await;
            drop(kept);
            answer
        }
    });
    let retried = RetryLayer::new(POLICY).layer(service);
    let call = tokio::time::timeout(SECOND, retried.oneshot(()));
    assert!(call.await.is_err());
    assert_eq!(Arc::strong_count(&dropped), 1);
}

#[test]
fn a_bad_policy_is_refused() {
    let refused = RetryLayer::try_new(Policy::new().max(0)).unwrap_err();
    let message = refused.message();
    assert!(
        message.starts_with("`max` counts the first attempt too"),
        "{message}"
    );
}

#[test]
#[should_panic(expected = "put a layer of `tower::timeout` inside")]
fn a_timeout_is_refused() {
    let _ = RetryLayer::http(Policy::new().timeout(SECOND));
}
