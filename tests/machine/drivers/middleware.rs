//! The middleware of reqwest, in front of middleware that answers by the script and never sends anything.

use std::sync::Arc;

use async_trait::async_trait;
use http::Extensions;
use reattempt::http::RetryMiddleware;
use reattempt::{Retry, Verdict};
use reqwest::{Client, Request, Response, ResponseBuilderExt as _};
use reqwest_middleware::{ClientBuilder, Error, Middleware, Next, Result};

use crate::clock::drive;
use crate::names::FORBIDDEN;
use crate::trace::Ending;
use crate::world::{Fault, World};

thread_local! {
    static CLIENT: Client = Client::new();
}

struct Scripted(Arc<World>);

#[async_trait]
impl Middleware for Scripted {
    async fn handle(&self, request: Request, _: &mut Extensions, _: Next<'_>) -> Result<Response> {
        let (status, asked) = match self.0.attempt_async().await {
            Ok(_) => (200, None),
            Err(Fault::Judged(Verdict::Transient)) => (503, None),
            Err(Fault::Judged(Verdict::TransientAfter(delay))) => {
                (504, Some(delay.as_secs().to_string()))
            }
            Err(Fault::Judged(Verdict::Throttled(delay))) => {
                (429, delay.map(|delay| delay.as_secs().to_string()))
            }
            Err(Fault::Judged(Verdict::Refused)) => (425, None),
            // A negative time.
            Err(Fault::Judged(FORBIDDEN)) => (503, Some("-1".to_owned())),
            Err(_) => return Err(Error::middleware(std::fmt::Error)),
        };
        let mut response = http::Response::builder()
            .status(status)
            .url(request.url().clone());
        if let Some(asked) = asked {
            response = response.header("retry-after", asked);
        }
        Ok(Response::from(response.body("").expect("a response")))
    }
}

pub(crate) fn middleware(world: &Arc<World>) -> Ending {
    let observer = Arc::clone(world);
    let retries = RetryMiddleware::new(world.policy)
        .name("middleware")
        .on_retry(move |retry: &Retry<'_, Result<Response>>| observer.announced(retry.delay()));
    let client = ClientBuilder::new(CLIENT.with(Client::clone))
        .with(retries)
        .with(Scripted(Arc::clone(world)))
        .build();
    match drive(client.get("http://localhost/").send()) {
        Some(Ok(response)) if response.status() == 200 => Ending::Value,
        _ => Ending::Failed,
    }
}
