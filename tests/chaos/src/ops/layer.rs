//! `RetryLayer` around a client of hyper.

use std::sync::Arc;

use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use reattempt::deadline;
use reattempt::http::Statuses;
use reattempt::protocol::Edge;
use reattempt::tower::RetryLayer;
use tower::{Layer as _, ServiceExt as _, service_fn};

use super::World;
use crate::calls::{Call, Wrong};
use crate::log::{self, CallEnd, What};

pub(crate) type Client = legacy::Client<HttpConnector, Full<Bytes>>;

pub(super) fn client() -> Client {
    legacy::Client::builder(TokioExecutor::new()).build_http()
}

pub(super) async fn layer(call: &Arc<Call>) -> bool {
    let world = World::get();
    let client = world.hyper.lock().await.clone().unwrap();
    let shared = Arc::clone(call);
    let inner = service_fn(move |request| attempt(client.clone(), Arc::clone(&shared), request));
    let service = RetryLayer::http(call.policy).name("layer").layer(inner);
    let url = format!("http://127.0.0.1:{}/put/{}", world.port, call.id);
    let request = Request::put(url).body(Full::default()).unwrap();
    let answer = service.oneshot(request).await;
    let end = match answer {
        Ok(ref answer) if answer.status().is_success() => CallEnd::Ok,
        _ => CallEnd::Failed(None),
    };
    log::note(call.id, What::CallEnded(end));
    // What is left of a good answer is nobody's attempt.
    if let Ok(answer) = answer {
        let _ = tokio::time::timeout(super::SHORT, answer.into_body().collect()).await;
    }
    end == CallEnd::Ok
}

async fn attempt(
    client: Client,
    call: Arc<Call>,
    mut request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, legacy::Error> {
    let number = deadline::attempt();
    let body = call.attempt(number);
    let headers = request.headers_mut();
    Edge::new("chaos").to_request(headers);
    headers.insert("x-attempt", HeaderValue::from(number));
    let answer = client.request(request).await;
    // The layer judges the answer; here it is only recorded.
    let shared = match &answer {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => {
            let verdict = Statuses::STANDARD.verdict(answer.status(), answer.headers());
            Err(Wrong::new(verdict, answer.status().as_str()))
        }
        Err(error) => Err(Wrong::of(error)),
    };
    let _ = body.end(shared);
    answer
}
