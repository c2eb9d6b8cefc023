//! The layer that keeps the protocol on the side of a server, and refuses requests that come too late.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use pin_project_lite::pin_project;
use retry_runtime::deadline::Deadline;
use retry_runtime::timer::{Clock as _, ProcessClock};
use tower_layer::Layer;
use tower_service::Service;

use super::refusals::Refusals;
use crate::protocol::{self, Served};

/// A layer of a server that keeps the [protocol](crate::protocol): what a request says about the call that it belongs to
/// holds in the service that handles it, and the answer names what has used up its retries there. The layer refuses
/// requests whose deadline is over.
///
/// Deadline, priority and attempt hold in the `call` of the inner service and in its future. A deadline that passes
/// meanwhile cancels nothing. A task that the service spawns does not inherit the deadline: it finds it, a
/// [`Deadline`](retry_runtime::deadline::Deadline), in the extensions of the request. [`DeadlineShed`](super::DeadlineShed)
/// refuses requests whose time has passed in a queue. The layer answers a refused request with status 504, or `DEADLINE_EXCEEDED` of gRPC, and an
/// empty body, and does not call the inner service.
///
/// With [`refuse_at_most`](Self::refuse_at_most) a service whose clients may be wrong about the time does not refuse
/// everything: the layer refuses a request only while the refused requests, with this one, are at most a share of all
/// requests of the last ten seconds, with this one. A request whose deadline is over and that is
/// not refused is handled as if it had no deadline. Clones of the layer, and the services that it
/// makes, count together.
///
/// # Units and ranges
///
/// Ten seconds are the current second and the nine before it.
///
/// # Source
///
/// `DeadlineFilter` of
/// [Finagle](https://twitter.github.io/finagle/guide/Servers.html#request-deadline), which counts
/// each connection for itself.
///
/// # Examples
///
/// ```
/// use http::{Request, Response, StatusCode};
/// use reattempt::deadline;
/// use reattempt::tower::ServerProtocol;
/// use std::convert::Infallible;
/// use std::time::Duration;
/// use tower::{Layer, Service, service_fn};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let handler = service_fn(async |_: Request<()>| {
///     Ok::<_, Infallible>(Response::new(deadline::remaining()))
/// });
/// let mut service = ServerProtocol::new().layer(handler);
///
/// let request = Request::builder().header("retry-context", "left=30000").body(())?;
/// let response = service.call(request).await?;
/// assert!(response.into_body() <= Some(Duration::from_secs(30)));
///
/// let request = Request::builder().header("retry-context", "left=0").body(())?;
/// let response = service.call(request).await?;
/// assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a layer does nothing until it is put around a service"]
pub struct ServerProtocol {
    share: Option<Share>,
}

/// What may be refused of all requests.
type Share = Arc<Mutex<Refusals>>;

impl ServerProtocol {
    /// Returns a layer that refuses every request whose deadline is over.
    pub const fn new() -> Self {
        Self { share: None }
    }

    /// Refuses at most `share` of the requests, and starts counting again.
    ///
    /// # Units and ranges
    ///
    /// 0.0 to 1.0, in millionths: 0.2 is 20 %, 0.0 refuses nothing, 1.0 refuses every request whose
    /// deadline is over.
    ///
    /// # Default
    ///
    /// 1.0
    ///
    /// # Panics
    ///
    /// Panics when `share` is outside of that range, or not a number.
    #[track_caller]
    pub fn refuse_at_most(self, share: f64) -> Self {
        assert!(
            (0.0..=1.0).contains(&share),
            "`refuse_at_most` takes a share from 0.0 to 1.0, not {share:?}; 0.2 is 20 %"
        );
        Self {
            share: Some(Arc::new(Mutex::new(Refusals::at_most(share)))),
        }
    }
}

impl<S> Layer<S> for ServerProtocol {
    type Service = ServerService<S>;

    fn layer(&self, inner: S) -> ServerService<S> {
        ServerService {
            inner,
            share: self.share.clone(),
        }
    }
}

/// A service whose requests have deadlines. [`ServerProtocol`] makes it.
#[derive(Debug, Clone)]
pub struct ServerService<S> {
    inner: S,
    share: Option<Share>,
}

impl<S> ServerService<S> {
    fn refuses(&self, expired: bool) -> bool {
        let Some(share) = &self.share else {
            return expired;
        };
        let mut refusals = share.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.refuses(expired, ProcessClock.now())
    }
}

impl<S, B, R> Service<Request<B>> for ServerService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    R: Default,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = ServerFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    #[inline]
    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let mut incoming = protocol::Request::of(&request);
        if self.refuses(incoming.is_expired()) {
            return ServerFuture::refused(refusal(&incoming, request.headers()));
        }
        if incoming.says_nothing() {
            return ServerFuture::plain(self.inner.call(request));
        }
        if let Some(left) = incoming.left() {
            // For a task that does not inherit it.
            request.extensions_mut().insert(Deadline::after(left));
        }
        let future = incoming.run(|| self.inner.call(request));
        let served = incoming.scope(future);
        ServerFuture {
            state: State::Served { served },
        }
    }
}

pin_project! {
    /// The future of [`ServerService`], and of a [`ShedService`](super::ShedService).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ServerFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[derive(Debug)]
    #[project = Projected]
    enum State<F> {
        // The request says nothing.
        Plain { #[pin] future: F },
        Served { #[pin] served: Served<F> },
        // It came after its time.
        Expired { refusal: Option<Box<Response<()>>> },
    }
}

impl<F> ServerFuture<F> {
    /// Returns the future of a request under which nothing more holds.
    #[inline]
    pub(super) const fn plain(future: F) -> Self {
        let state = State::Plain { future };
        Self { state }
    }

    /// Returns the future of a request that came too late.
    pub(super) fn refused(refusal: Response<()>) -> Self {
        let refusal = Some(Box::new(refusal));
        let state = State::Expired { refusal };
        Self { state }
    }
}

impl<F, R, E> Future for ServerFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    R: Default,
{
    type Output = Result<Response<R>, E>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            Projected::Plain { future } => future.poll(cx),
            Projected::Served { served } => {
                let (mut answer, incoming) = ready!(served.poll(cx));
                if let Ok(response) = &mut answer {
                    incoming.to_answer(response.headers_mut());
                }
                Poll::Ready(answer)
            }
            Projected::Expired { refusal } => {
                let refusal = refusal.take().unwrap_or_default();
                Poll::Ready(Ok(refusal.map(|()| R::default())))
            }
        }
    }
}

/// Returns the answer to a request that came too late.
#[cold]
pub(super) fn refusal(incoming: &protocol::Request, request: &HeaderMap) -> Response<()> {
    const GRPC: &[u8] = b"application/grpc";
    let mut response = Response::new(());
    incoming.to_refusal(response.headers_mut());
    let content = request.get(CONTENT_TYPE);
    match content.filter(|content| content.as_bytes().starts_with(GRPC)) {
        // gRPC has its status in a header, and 200 says that it has one.
        Some(content) => {
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, content.clone());
            headers.insert("grpc-status", DEADLINE_EXCEEDED);
        }
        None => *response.status_mut() = StatusCode::GATEWAY_TIMEOUT,
    }
    response
}

const DEADLINE_EXCEEDED: HeaderValue = HeaderValue::from_static("4");

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use retry_runtime::deadline;
    use tower::{ServiceExt as _, service_fn};

    use super::*;

    /// The status, that of gRPC, what the handler saw: an attempt, and whether time was left around it and in the request.
    type Seen = (u16, bool, Option<(u32, bool, bool)>);

    async fn served(layer: &ServerProtocol, head: http::request::Builder) -> Seen {
        let service = layer.layer(service_fn(async |request: Request<()>| {
            let own = request.extensions().get::<Deadline>().is_some();
            let seen = (deadline::attempt(), deadline::remaining().is_some(), own);
            Ok::<_, Infallible>(Response::new(Some(seen)))
        }));
        let Ok(answer) = service.oneshot(head.body(()).unwrap_or_default()).await;
        let has_status = answer.headers().contains_key("grpc-status");
        (answer.status().as_u16(), has_status, *answer.body())
    }

    fn says(text: &str) -> http::request::Builder {
        Request::builder().header("retry-context", text)
    }

    fn of_grpc(method: http::Method, version: http::Version) -> http::request::Builder {
        let request = Request::builder().method(method).version(version);
        request
            .header(CONTENT_TYPE, "application/grpc")
            .header("grpc-timeout", "1H")
    }

    #[tokio::test]
    async fn what_a_request_says_holds_where_it_is_served() {
        let layer = ServerProtocol::new();
        let plain = (200, false, Some((1, false, false)));
        let bounded = (200, false, Some((1, true, true)));
        assert_eq!(served(&layer, Request::builder()).await, plain);
        assert_eq!(served(&layer, says("left=3600000")).await, bounded);
        assert_eq!(
            served(&layer, says("attempt=3")).await,
            (200, false, Some((3, false, false)))
        );
        assert_eq!(served(&layer, says("left=0")).await, (504, false, None));
        let late = says("left=0").header(CONTENT_TYPE, "application/grpc");
        assert_eq!(served(&layer, late).await, (200, true, None));
        let (post, two) = (http::Method::POST, http::Version::HTTP_2);
        assert_eq!(served(&layer, of_grpc(post.clone(), two)).await, bounded);
        assert_eq!(
            served(&layer, of_grpc(post, http::Version::HTTP_11)).await,
            plain
        );
        assert_eq!(served(&layer, of_grpc(http::Method::GET, two)).await, plain);
    }

    #[tokio::test]
    async fn no_more_than_a_share_of_the_requests_is_refused() {
        let none = ServerProtocol::new().refuse_at_most(0.0);
        // A deadline that is over does not hold.
        assert_eq!(
            served(&none, says("left=0")).await,
            (200, false, Some((1, false, true)))
        );
        let all = ServerProtocol::new().refuse_at_most(1.0);
        assert_eq!(served(&all, says("left=0")).await, (504, false, None));
        assert_eq!(served(&all, Request::builder()).await.0, 200);
    }
}
