//! The layer that keeps the protocol on the side of a client.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::protocol::{Edge, RETRY_CONTEXT};

/// A layer of a client that keeps the [protocol](crate::protocol): each request says how long its caller waits, which
/// attempt it is and what has used up its retries, and the calls around it learn from the answer.
///
/// A request to a host that is not known to belong to the own system says nothing, and teaches nothing: see [`Edge::of`].
/// [`to`](Self::to) names the callee of a client that has one, and is a choice for any host. A client of tonic names no host
/// in its requests, and always needs it.
///
/// A request whose deadline is over is sent all the same: the layer has no error of its own to return, and
/// [`ServerProtocol`](super::ServerProtocol) refuses the request.
///
/// The layer reads the deadline where the service is called. So it belongs around layers that hand
/// requests to another task, such as `tower::buffer`, and inside layers that retry, so that each
/// attempt sends the time that is left for it.
///
/// It is for services that take an [`http::Request`], those of tonic included. For other clients there are
/// [`Edge::headers`] and [`Edge::from_answer`].
///
/// # Examples
///
/// ```
/// use http::{Request, Response};
/// use reattempt::{deadline, protocol, tower::ClientProtocol};
/// use std::convert::Infallible;
/// use std::time::Duration;
/// use tower::{Layer, Service, service_fn};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Infallible> {
/// let network = service_fn(async |request: Request<()>| {
///     let left = protocol::Request::from_headers(request.headers()).left();
///     Ok::<_, Infallible>(Response::new(left))
/// });
/// let mut client = ClientProtocol::to("orders").layer(network);
///
/// let call = async { client.call(Request::new(())).await };
/// let response = deadline::within(Duration::from_secs(30), call).await?;
/// assert_eq!(response.into_body(), Some(Duration::from_secs(30)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[must_use = "a layer does nothing until it is put around a service"]
pub struct ClientProtocol {
    edge: Option<Edge>,
}

impl ClientProtocol {
    /// Returns a layer whose callees are the hosts of its requests.
    pub const fn new() -> Self {
        Self { edge: None }
    }

    /// Returns a layer of a client with one callee, which belongs to the own system. All instances of this program should
    /// give it the same name.
    pub fn to(name: &str) -> Self {
        Self::from(Edge::new(name))
    }
}

/// Of a client with this callee.
impl From<Edge> for ClientProtocol {
    fn from(edge: Edge) -> Self {
        Self { edge: Some(edge) }
    }
}

impl<S> Layer<S> for ClientProtocol {
    type Service = ClientService<S>;

    fn layer(&self, inner: S) -> ClientService<S> {
        ClientService {
            inner,
            edge: self.edge,
        }
    }
}

/// The service of [`ClientProtocol`].
#[derive(Debug, Clone)]
pub struct ClientService<S> {
    inner: S,
    edge: Option<Edge>,
}

impl<S, B, R> Service<Request<B>> for ClientService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = ClientFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let edge = self.edge.or_else(|| Edge::of(request.uri()));
        match edge {
            Some(edge) => edge.to_request(request.headers_mut()),
            // It may be that of a request which is passed on.
            None => drop(request.headers_mut().remove(RETRY_CONTEXT)),
        }
        ClientFuture {
            answer: self.inner.call(request),
            edge,
        }
    }
}

pin_project! {
    /// The future of [`ClientService`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ClientFuture<F> {
        #[pin]
        answer: F,
        edge: Option<Edge>,
    }
}

impl<F, R, E> Future for ClientFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = Result<Response<R>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let answer = ready!(this.answer.poll(cx));
        if let (Some(edge), Ok(response)) = (*this.edge, &answer) {
            edge.from_answer(response.headers());
        }
        Poll::Ready(answer)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::task::Waker;
    use std::time::Duration;

    use reattempt_core::around::RetryScope;
    use reattempt_core::inbound::used_here;
    use retry_runtime::Policy;
    use tower::{ServiceExt as _, service_fn};

    use super::*;
    use crate::tower::{DeadlineShed, RetryLayer, ServerProtocol};

    /// What a request to this address says, where another process has said so much before.
    async fn said(layer: ClientProtocol, uri: &'static str) -> Option<String> {
        let echo = service_fn(async |request: Request<()>| {
            let said = request.headers().get(RETRY_CONTEXT).cloned();
            let mut answer = Response::new(said);
            let used = http::HeaderValue::from_static("used=(\"a\")");
            answer.headers_mut().insert(RETRY_CONTEXT, used);
            Ok::<_, Infallible>(answer)
        });
        let request = Request::get(uri).header(RETRY_CONTEXT, "attempt=9");
        let request = request.body(()).expect("a request");
        let Ok(answer) = layer.layer(echo).oneshot(request).await;
        let said = answer.into_body();
        said.map(|said| String::from_utf8_lossy(said.as_bytes()).into_owned())
    }

    #[tokio::test]
    async fn only_the_own_system_is_told() {
        let _retry = RetryScope::new(1);
        let foreign = "http://example.com/";
        assert_eq!(said(ClientProtocol::new(), foreign).await, None);
        assert!(used_here().is_empty());
        let own = said(ClientProtocol::new(), "http://orders/").await;
        assert_eq!(own.as_deref(), Some("attempt=2"));
        assert_eq!(used_here().len(), 1);
        let named = ClientProtocol::to("orders");
        let again = said(named, foreign).await;
        assert_eq!(again.as_deref(), Some("attempt=2, used=(\"a\")"));
        assert_eq!(named.edge, ClientProtocol::from(Edge::new("orders")).edge);
    }

    /// Has no room.
    #[derive(Clone)]
    struct Full;

    impl Service<Request<()>> for Full {
        type Response = Response<()>;
        type Error = Infallible;
        type Future = std::future::Ready<Result<Response<()>, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Pending
        }

        fn call(&mut self, _: Request<()>) -> Self::Future {
            std::future::ready(Ok(Response::new(())))
        }
    }

    #[test]
    fn every_layer_waits_for_room() {
        fn is_ready<L: Layer<Full>>(layer: &L) -> bool
        where
            L::Service: Service<Request<()>>,
        {
            let mut context = Context::from_waker(Waker::noop());
            layer.layer(Full).poll_ready(&mut context).is_ready()
        }
        assert!(!is_ready(&ClientProtocol::new()));
        assert!(!is_ready(&ServerProtocol::new()));
        assert!(!is_ready(&DeadlineShed::new(Duration::ZERO)));
        let layer = RetryLayer::new(Policy::new());
        assert!(!is_ready(
            &layer.on_answer(|_: &Result<Response<()>, Infallible>| false)
        ));
    }
}
