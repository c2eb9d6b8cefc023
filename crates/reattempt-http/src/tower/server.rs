//! The layer that sets the deadline of a request for the service that handles it, and refuses
//! requests that come too late.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use http::{Request, Response, StatusCode};
use pin_project_lite::pin_project;
use retry_runtime::deadline::{self, Deadline, Scope};
use retry_runtime::timer::{Clock as _, ProcessClock};
use tower_layer::Layer;
use tower_service::Service;

use super::refusals::Refusals;
use crate::deadline::from_header;

/// A layer that sets the deadline in the headers of a request for the service that handles it, and
/// refuses requests whose deadline is over.
///
/// The deadline holds in the `call` of the inner service and in its future, as with
/// [`deadline::scope`]. A deadline that passes meanwhile cancels nothing. The layer answers a
/// refused request with status 504 and an empty body, and does not call the inner service.
///
/// A service whose clients are wrong about the time must not refuse everything. So the layer
/// refuses a request only while the refused requests, with this one, are at most a share of all
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
/// use reattempt::tower::ServerDeadline;
/// use std::convert::Infallible;
/// use std::time::Duration;
/// use tower::{Layer, Service, service_fn};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let handler = service_fn(async |_: Request<()>| {
///     Ok::<_, Infallible>(Response::new(deadline::remaining()))
/// });
/// let mut service = ServerDeadline::new().refuse_at_most(0.5).layer(handler);
///
/// let request = Request::builder().header("request-timeout", "30S").body(())?;
/// let response = service.call(request).await?;
/// assert!(response.into_body() <= Some(Duration::from_secs(30)));
///
/// let request = Request::builder().header("request-timeout", "0n").body(())?;
/// let response = service.call(request).await?;
/// assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a layer does nothing until it is put around a service"]
pub struct ServerDeadline {
    refusals: Arc<Mutex<Refusals>>,
}

impl ServerDeadline {
    /// Returns a layer that refuses at most 20 % of the requests.
    pub fn new() -> Self {
        Self::at_most(0.2)
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
    /// 0.2
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
        Self::at_most(share)
    }

    fn at_most(share: f64) -> Self {
        Self {
            refusals: Arc::new(Mutex::new(Refusals::at_most(share))),
        }
    }
}

impl Default for ServerDeadline {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for ServerDeadline {
    type Service = ServerService<S>;

    fn layer(&self, inner: S) -> ServerService<S> {
        ServerService {
            inner,
            refusals: Arc::clone(&self.refusals),
        }
    }
}

/// A service whose requests have deadlines. [`ServerDeadline`] makes it.
#[derive(Debug, Clone)]
pub struct ServerService<S> {
    inner: S,
    refusals: Arc<Mutex<Refusals>>,
}

impl<S> ServerService<S> {
    fn refuses(&self, expired: bool) -> bool {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
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

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let deadline = from_header(request.headers());
        let expired = deadline.is_some_and(Deadline::is_over);
        if self.refuses(expired) {
            return ServerFuture { served: None };
        }
        // Under a deadline that is over every call would end at once, which is not better than a
        // refusal.
        let deadline = deadline.filter(|_| !expired);
        let future = deadline::scope_blocking(deadline, || self.inner.call(request));
        ServerFuture {
            served: Some(deadline::scope(deadline, future)),
        }
    }
}

pin_project! {
    /// The future of [`ServerService`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ServerFuture<F> {
        // `None` is a refused request.
        #[pin]
        served: Option<Scope<F>>,
    }
}

impl<F, R, E> Future for ServerFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    R: Default,
{
    type Output = Result<Response<R>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().served.as_pin_mut() {
            Some(served) => served.poll(cx),
            None => Poll::Ready(Ok(refusal())),
        }
    }
}

fn refusal<R: Default>() -> Response<R> {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::GATEWAY_TIMEOUT;
    response
}
