//! Three services over real HTTP, each of which calls the next.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use reattempt::protocol::{Edge, Request};
use reattempt::tower::ServerProtocol;
use reattempt::{deadline, retry};
use reqwest::Client;
use tokio::net::TcpListener;

const HALF_A_MINUTE: Duration = Duration::from_secs(30);

async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, router).await });
    address
}

fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

/// A service that answers with what it sees of the deadline, in nanoseconds, and
/// below it what the services behind it see.
#[derive(Clone)]
struct Link {
    address: Arc<str>,
    served: Arc<AtomicU32>,
    /// Whether it leaves no time for the next.
    is_slow: Arc<AtomicBool>,
}

impl Link {
    async fn start(next: Option<&Self>) -> Self {
        let (served, is_slow) = (Arc::default(), Arc::default());
        let next = next.map(|next| Arc::clone(&next.address));
        let state = (next, Arc::clone(&served), Arc::clone(&is_slow));
        let router = Router::new()
            .route("/", get(answer))
            .layer(ServerProtocol::new())
            .with_state(state);
        Self {
            address: format!("http://{}/", serve(router).await).into(),
            served,
            is_slow,
        }
    }

    async fn ask(&self) -> (StatusCode, String) {
        ask(&self.address).await
    }

    fn served(&self) -> u32 {
        self.served.load(Ordering::Relaxed)
    }
}

type Parts = (Option<Arc<str>>, Arc<AtomicU32>, Arc<AtomicBool>);

async fn answer(State((next, served, is_slow)): State<Parts>) -> (StatusCode, String) {
    served.fetch_add(1, Ordering::Relaxed);
    let seen = deadline::remaining().map_or(u128::MAX, |left| left.as_nanos());
    let Some(next) = next else {
        return (StatusCode::OK, seen.to_string());
    };
    let limit = if is_slow.load(Ordering::Relaxed) {
        Duration::ZERO
    } else {
        Duration::MAX
    };
    let (status, behind) = deadline::within(limit, ask(&next)).await;
    (status, format!("{seen}\n{behind}"))
}

async fn ask(address: &str) -> (StatusCode, String) {
    let request = client().get(address).headers(Edge::new("next").headers());
    let response = request.send().await.unwrap();
    (response.status(), response.text().await.unwrap())
}

#[tokio::test]
async fn a_deadline_shrinks_from_service_to_service() {
    let c = Link::start(None).await;
    let b = Link::start(Some(&c)).await;
    let a = Link::start(Some(&b)).await;

    let (status, answer) = deadline::within(HALF_A_MINUTE, a.ask()).await;
    let seen: Vec<u128> = answer.lines().map(|left| left.parse().unwrap()).collect();
    assert_eq!((status, seen.len()), (StatusCode::OK, 3));
    assert!(seen[0] < HALF_A_MINUTE.as_nanos(), "{seen:?}");
    assert!(
        seen.is_sorted_by(|before, after| before > after),
        "{seen:?}"
    );
    assert!(seen[2] > 0, "{seen:?}");

    let (_, answer) = a.ask().await;
    let none = u128::MAX.to_string();
    assert!(answer.lines().all(|seen| seen == none), "{answer}");
}

#[tokio::test]
async fn the_third_refuses_what_is_over() {
    let c = Link::start(None).await;
    let b = Link::start(Some(&c)).await;
    let a = Link::start(Some(&b)).await;
    b.is_slow.store(true, Ordering::Relaxed);
    let (status, answer) = deadline::within(HALF_A_MINUTE, a.ask()).await;

    assert_eq!(status, StatusCode::GATEWAY_TIMEOUT);
    assert_eq!((a.served(), b.served(), c.served()), (1, 1, 0));
    // Of `c` there is the empty line.
    assert!(
        answer.ends_with('\n') && answer.lines().count() == 2,
        "{answer:?}"
    );
}

#[tokio::test]
async fn a_service_sees_the_number_of_the_attempt() {
    type Seen = Arc<Mutex<Vec<u32>>>;

    async fn fail_once(State(seen): State<Seen>, headers: HeaderMap) -> StatusCode {
        let mut seen = seen.lock().unwrap();
        seen.push(Request::from_headers(&headers).attempt());
        match seen.len() {
            1 => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::OK,
        }
    }

    #[retry(backoff = "none", on = reqwest::Error::is_status)]
    async fn fetch(client: &Client, address: &str) -> reqwest::Result<String> {
        let request = client.get(address).headers(Edge::new("next").headers());
        request.send().await?.error_for_status()?.text().await
    }

    let seen = Seen::default();
    let router = Router::new().route("/", get(fail_once));
    let address = serve(router.with_state(Arc::clone(&seen))).await;
    fetch(&client(), &format!("http://{address}/"))
        .await
        .unwrap();
    assert_eq!(*seen.lock().unwrap(), [1, 2]);
}
