//! The HTTP server: it does what it is asked for, remembers what it has done, and misbehaves on request.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use reattempt::deadline;
use reattempt::http::IDEMPOTENCY_KEY;
use reattempt::tower::ServerProtocol;
use tokio::net::TcpListener;
use tokio::time::sleep;
use tower::{Layer as _, Service as _};

use crate::log::{self, Id, What};
use crate::plan::{Fault, Plan};
use crate::random::Random;

pub(crate) struct Server {
    pub(crate) port: u16,
    state: Arc<State>,
}

pub(crate) struct State {
    pub(crate) plan: Plan,
    pub(crate) fault: Mutex<Fault>,
    pub(crate) done: Mutex<Done>,
}

#[derive(Default)]
pub(crate) struct Done {
    /// Requests so far of each call.
    pub(crate) asked: HashMap<Id, u64>,
    pub(crate) effects: HashMap<Id, u32>,
    /// Attempts up to this one are not executed any more.
    pub(crate) fences: HashMap<Id, u32>,
    pub(crate) keys: HashSet<String>,
}

/// The server breaks off: no answer at all.
#[derive(Debug)]
struct BrokenOff;

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server broke off")
    }
}

impl std::error::Error for BrokenOff {}

pub(crate) type Answer = Response<Full<Bytes>>;

/// What a request asks for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) id: Id,
    pub(crate) attempt: u32,
    pub(crate) key: u16,
    pub(crate) idempotency: Option<String>,
}

impl Server {
    pub(crate) async fn begin(plan: Plan) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            plan,
            fault: Mutex::new(Fault::None),
            done: Mutex::default(),
        });
        let own = Arc::clone(&state);
        tokio::spawn(async move {
            // Whoever comes too late is always refused.
            let deadlines = ServerProtocol::new();
            loop {
                let Ok((socket, _)) = listener.accept().await else {
                    continue;
                };
                let (own, deadlines) = (Arc::clone(&own), deadlines.clone());
                let service = deadlines.layer(tower::service_fn(move |request| {
                    let own = Arc::clone(&own);
                    async move { own.answer(&request).await }
                }));
                let service =
                    service_fn(move |request: Request<Incoming>| service.clone().call(request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service));
            }
        });
        Self { port, state }
    }

    pub(crate) fn set(&self, fault: Fault) {
        *lock(&self.state.fault) = fault;
    }

    /// How often the effect of each call has happened.
    pub(crate) fn effects(&self) -> HashMap<Id, u32> {
        lock(&self.state.done).effects.clone()
    }
}

pub(crate) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    async fn answer(self: Arc<Self>, request: &Request<Incoming>) -> Result<Answer, BrokenOff> {
        let asked = Asked::read(request);
        let left = deadline::remaining();
        log::note(asked.id, What::Request { left });
        let count = {
            let mut done = lock(&self.done);
            let count = done.asked.entry(asked.id).or_default();
            *count += 1;
            *count
        };
        let seed = self.plan.seed;
        let mut random = Random::of(seed, &[5, asked.id, u64::from(asked.attempt), count]);
        let fault = *lock(&self.fault);
        match fault {
            Fault::Overloaded(percent) if random.chance(percent) => {
                return Ok(overloaded(&mut random));
            }
            Fault::Late(percent) if random.chance(percent) => {
                sleep(random.millis(20, 500)).await;
            }
            Fault::Broken(percent) if random.chance(percent) => match random.range(1, 4) {
                1 => return Ok(status(503, "broken")),
                2 => return Err(BrokenOff),
                3 => {
                    let _done = self.work(&asked, count).await;
                    return Ok(status(500, "broken after all"));
                }
                _ => {
                    let _done = self.work(&asked, count).await;
                    return Err(BrokenOff);
                }
            },
            _ => (),
        }
        let answer = match asked.path.as_str() {
            // Goes on where nobody waits for it any more.
            "put" | "order" | "keyed" | "late" => {
                let (own, asked) = (Arc::clone(&self), asked.clone());
                let work = tokio::spawn(async move { own.work(&asked, count).await });
                work.await.map_err(|_| BrokenOff)?
            }
            _ => self.work(&asked, count).await,
        };
        if matches!(fault, Fault::Late(percent) if random.chance(percent)) {
            sleep(random.millis(20, 300)).await;
        }
        Ok(answer)
    }
}

impl Asked {
    fn read(request: &Request<Incoming>) -> Self {
        let mut parts = request.uri().path().split('/').skip(1);
        let path = parts.next().unwrap_or_default().to_owned();
        let id = parts
            .next()
            .and_then(|id| id.parse().ok())
            .unwrap_or_default();
        let headers = request.headers();
        let attempt = number(headers, "x-attempt");
        let key = u16::try_from(number(headers, "x-key")).unwrap();
        let idempotency = headers.get(IDEMPOTENCY_KEY);
        let idempotency = idempotency.and_then(|key| key.to_str().ok().map(str::to_owned));
        Self {
            path,
            id,
            attempt,
            key,
            idempotency,
        }
    }
}

fn number(headers: &HeaderMap, name: &str) -> u32 {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or_default()
}

fn overloaded(random: &mut Random) -> Answer {
    let mut answer = match random.range(1, 4) {
        1 => status(425, "too early"),
        2 => status(503, "overloaded"),
        _ => status(429, "overloaded"),
    };
    if random.chance(30) {
        let after = if random.chance(70) { "0" } else { "1" };
        answer
            .headers_mut()
            .insert("retry-after", after.parse().unwrap());
    }
    answer
}

pub(crate) fn status(status: u16, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    answer
}
