//! A server with too much to do: a queue between the layer that reads the time and the one that refuses.

use std::convert::Infallible;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::http::{Request, Response, StatusCode};
use axum::routing::{Router, get};
use reattempt::deadline::Deadline;
use reattempt::protocol::RETRY_CONTEXT;
use reattempt::tower::{DeadlineShed, ServerProtocol};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tower::limit::GlobalConcurrencyLimitLayer;
use tower::util::BoxCloneSyncService;
use tower::{Layer as _, Service, ServiceBuilder, ServiceExt as _, service_fn};

const WORK: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(1);

type Server = BoxCloneSyncService<Request<()>, Response<()>, tower::BoxError>;

/// A server for 100 requests a second, one after the other; it stands still until `begin`.
fn server(begin: Instant, needs: Option<Duration>, done: &Arc<AtomicU32>) -> Server {
    let done = Arc::clone(done);
    let work = service_fn(move |_: Request<()>| {
        let done = Arc::clone(&done);
        async move {
            sleep_until(begin).await;
            sleep(WORK).await;
            done.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(Response::new(()))
        }
    });
    let work: Server = match needs {
        Some(needs) => {
            BoxCloneSyncService::new(DeadlineShed::new(needs).layer(work).map_err(Into::into))
        }
        None => BoxCloneSyncService::new(work.map_err(Into::into)),
    };
    let queue = ServiceBuilder::new()
        .buffer(100_000)
        .concurrency_limit(1)
        .service(work);
    BoxCloneSyncService::new(ServerProtocol::new().layer(queue))
}

fn request() -> Request<()> {
    let left = format!("left={}", PATIENCE.as_millis());
    Request::builder()
        .header(RETRY_CONTEXT, left)
        .body(())
        .unwrap()
}

/// Answers in time, of twice as many requests as it can serve after an outage of five seconds; and all that it did.
async fn answers(needs: Option<Duration>) -> (u32, u32) {
    let (began, done) = (Instant::now(), Arc::default());
    let outage = began + Duration::from_secs(5);
    let server = server(outage, needs, &done);
    let mut state = RandomState::new().hash_one(0);
    let mut calls = Vec::new();
    for _ in 0..3_000 {
        let server = server.clone();
        let call = async move {
            // On another machine: the server does not see that its caller has gone.
            let answer = tokio::spawn(server.oneshot(request()));
            let answer = timeout(PATIENCE, answer).await;
            answer.is_ok_and(|answer| answer.unwrap().unwrap().status() == StatusCode::OK)
        };
        calls.push(tokio::spawn(call));
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        sleep(Duration::from_millis(1 + (state >> 61))).await; // 4.5 ms in the mean
    }
    let mut answered = 0;
    for call in calls {
        answered += u32::from(call.await.unwrap());
    }
    (answered, done.load(Ordering::Relaxed))
}

#[tokio::test(start_paused = true)]
async fn a_server_with_too_much_to_do_answers_what_it_can() {
    let (served, _) = answers(None).await;
    let (expired, _) = answers(Some(Duration::ZERO)).await;
    let (shed, done) = answers(Some(2 * WORK)).await;
    println!(
        "in time: {served}, {expired} where what has expired is refused, {shed} of {done} where what is late is"
    );
    assert!(
        served <= expired && shed >= 3 * served.max(100),
        "{served} {shed}"
    );
    assert!(shed + 20 >= done, "{done} are done and {shed} in time");
}

/// The deadline is there where a request comes out of the queue, in whatever task that is.
#[tokio::test(start_paused = true)]
async fn a_request_keeps_its_deadline_in_another_task() {
    let work = service_fn(async |request: Request<()>| {
        let deadline = request.extensions().get::<Deadline>().copied();
        Ok::<_, Infallible>(Response::new(deadline.map(Deadline::remaining)))
    });
    let queue = ServiceBuilder::new().buffer(5).service(work);
    let mut server = ServerProtocol::new().layer(queue);
    let answer = server.ready().await.unwrap().call(request()).await.unwrap();
    let left = answer.into_body().expect("it has one");
    assert!(left > PATIENCE / 2 && left <= PATIENCE, "{left:?}");
    let answer = server.ready().await.unwrap().call(Request::new(())).await;
    assert_eq!(answer.unwrap().into_body(), None);
}

#[tokio::test(start_paused = true)]
async fn a_late_request_is_refused_as_an_expired_one() {
    let handler = service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new(())));
    let shed = DeadlineShed::new(Duration::from_millis(50)).layer(handler);
    let server = ServerProtocol::new().layer(shed);
    for (context, status, field) in [
        ("left=60000", StatusCode::OK, None),
        ("left=49", StatusCode::GATEWAY_TIMEOUT, Some("expired")),
        ("left=0", StatusCode::GATEWAY_TIMEOUT, Some("expired")),
        ("attempt=1", StatusCode::OK, None),
    ] {
        let request = Request::builder().header(RETRY_CONTEXT, context);
        let answer = server
            .clone()
            .oneshot(request.body(()).unwrap())
            .await
            .unwrap();
        let said = answer
            .headers()
            .get(RETRY_CONTEXT)
            .map(|field| field.to_str().unwrap());
        assert_eq!((answer.status(), said), (status, field), "{context}");
    }
    // Nobody says how long the caller of this one waits.
    let answer = server.oneshot(Request::new(())).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
}

/// As the guide has it for axum: each layer of a router takes requests at once.
#[tokio::test(start_paused = true)]
async fn a_router_counts_the_time_in_its_queue() {
    let handler = get(async || sleep(Duration::from_millis(20)).await);
    let router = Router::new()
        .route("/", handler)
        .layer(DeadlineShed::new(Duration::from_millis(20)))
        .layer(GlobalConcurrencyLimitLayer::new(1))
        .layer(ServerProtocol::new());
    let answers = (0..4).map(|_| {
        let request = axum::extract::Request::builder().header(RETRY_CONTEXT, "left=50");
        let request = request.body(axum::body::Body::empty()).unwrap();
        let router = router.clone();
        async move { router.oneshot(request).await.unwrap().status().as_u16() }
    });
    let began = Instant::now();
    assert_eq!(
        futures::future::join_all(answers).await,
        [200, 200, 504, 504]
    );
    assert!(
        began.elapsed() < Duration::from_millis(60),
        "{:?}",
        began.elapsed()
    );
}
