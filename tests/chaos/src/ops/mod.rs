//! The operations: every form of a retry with every option, on a server and a database that misbehave.

mod alone;
mod blocking;
pub(crate) mod database;
mod http;
mod layer;
mod nested;
mod op;
pub(crate) mod shared;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reattempt::{RetryError, deadline, observe};
use sqlx::PgPool;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::calls::{Call, Wrong};
use crate::log::{self, CallEnd, What};
pub(crate) use nested::downstream;
pub(crate) use op::{Effects, Op};

/// What all accounts have together.
pub(crate) const ACCOUNTS: i64 = 4000;

pub(crate) type Answer = Result<(), RetryError<Wrong>>;

/// Where the operations find what they work with.
#[derive(Debug)]
pub(crate) struct World {
    /// Of the proxy before the server.
    pub(crate) port: u16,
    pub(crate) client: Mutex<Option<reqwest::Client>>,
    pub(crate) hyper: Mutex<Option<layer::Client>>,
    pub(crate) pool: PgPool,
}

static WORLD: OnceLock<World> = OnceLock::new();

impl World {
    pub(crate) fn new(port: u16, pool: PgPool) -> Self {
        let client = reqwest::Client::builder().no_proxy();
        Self {
            port,
            client: Mutex::new(Some(client.build().unwrap())),
            hyper: Mutex::new(Some(layer::client())),
            pool,
        }
    }

    pub(crate) fn begin(self) {
        WORLD.set(self).unwrap();
    }

    pub(crate) fn get() -> &'static Self {
        WORLD.get().unwrap()
    }

    /// Its connections and their tasks end.
    pub(crate) async fn end(&self) {
        self.client.lock().await.take();
        self.hyper.lock().await.take();
        self.pool.close().await;
    }
}

/// Makes an async call, from its beginning to its end or until it is dropped.
pub(crate) async fn call(call: &Arc<Call>) {
    let work = below(call, run(call));
    let Some(cancel) = call.spec.cancel else {
        work.await;
        return;
    };
    if timeout(cancel, work).await.is_err() {
        log::note(call.id, What::CallEnded(CallEnd::Dropped));
    }
}

/// The same where nothing misbehaves: whether it succeeded.
pub(crate) async fn succeeds(call: &Arc<Call>) -> bool {
    below(call, run(call)).await
}

async fn below<T>(call: &Call, work: impl Future<Output = T>) -> T {
    let work = observe::request(call.id.to_string(), work);
    match call.spec.within {
        Some(limit) => deadline::within(limit, work).await,
        None => work.await,
    }
}

async fn run(call: &Arc<Call>) -> bool {
    let answer = match call.spec.op {
        Op::Fetch => Box::pin(http::fetch(call)).await,
        Op::Put => Box::pin(http::put(call)).await,
        Op::Keyed => Box::pin(http::keyed(call)).await,
        Op::Order => Box::pin(http::order(call)).await,
        Op::OrderOnce => Box::pin(http::order_once(call)).await,
        Op::Poll => Box::pin(http::poll(call)).await,
        Op::Hooked => Box::pin(http::hooked(call)).await,
        Op::Block => Box::pin(http::block(call)).await,
        Op::Named => Box::pin(http::named(call)).await,
        Op::Late => Box::pin(http::late(call)).await,
        Op::Search => Box::pin(shared::search(call)).await,
        Op::Guarded => Box::pin(shared::guarded(call)).await,
        Op::GuardedFallback => Box::pin(shared::guarded_fallback(call)).await,
        Op::Everything => Box::pin(shared::everything(call)).await,
        Op::Decided => Box::pin(shared::decided(call)).await,
        Op::Adaptive => Box::pin(shared::adaptive(call)).await,
        Op::Cubic => Box::pin(shared::cubic(call)).await,
        Op::GuardedAlone => return Box::pin(alone::guarded(call)).await,
        Op::Runner => Box::pin(alone::runner(call)).await,
        Op::RunnerGuarded => Box::pin(alone::runner_guarded(call)).await,
        Op::Layer => return Box::pin(layer::layer(call)).await,
        Op::Outer => Box::pin(nested::outer(call)).await,
        Op::Relay => Box::pin(nested::relay(call)).await,
        Op::Pay => Box::pin(database::pay(call)).await,
        Op::PayVerified => Box::pin(database::pay_verified(call)).await,
        Op::Transfer => Box::pin(database::transfer(call)).await,
        op => unreachable!("{op:?} is made below another"),
    };
    call.ended(&answer);
    answer.is_ok()
}

/// Makes a call on this thread.
pub(crate) fn call_blocking(call: &Call) {
    let work = || observe::request_blocking(call.id.to_string(), || blocking::run(call));
    let answer = match call.spec.within {
        Some(limit) => deadline::within_blocking(limit, work),
        None => work(),
    };
    call.ended(&answer);
}

/// The pace of the calls that servers make themselves.
pub(crate) const SHORT: Duration = Duration::from_millis(15);
