//! The layer that sends the deadline on with each request.

use std::task::{Context, Poll};

use http::Request;
use tower_layer::Layer;
use tower_service::Service;

use crate::deadline::to_header;

/// A layer that writes the current deadline, and inside a retry the attempt number, into the
/// headers of each request that goes out, as [`deadline::to_header`](crate::deadline::to_header)
/// does.
///
/// A request whose deadline is over is sent all the same, with `0n`: the layer has no error of its
/// own to return, and [`ServerDeadline`](super::ServerDeadline) refuses the request.
///
/// The layer reads the deadline where the service is called. So it belongs around layers that hand
/// requests to another task, such as `tower::buffer`, and inside layers that retry, so that each
/// attempt sends the time that is left for it.
///
/// It is for services that take an [`http::Request`]. For the client of reqwest, which takes
/// requests of its own, there is [`deadline::headers`](crate::deadline::headers).
///
/// # Examples
///
/// ```
/// use http::{Request, Response};
/// use reattempt::deadline;
/// use reattempt::tower::ClientDeadline;
/// use std::convert::Infallible;
/// use std::time::Duration;
/// use tower::{Layer, Service, service_fn};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Infallible> {
/// let network = service_fn(async |request: Request<()>| {
///     let left = deadline::from_header(request.headers()).map(|deadline| deadline.remaining());
///     Ok::<_, Infallible>(Response::new(left))
/// });
/// let mut client = ClientDeadline::new().layer(network);
///
/// let limit = Duration::from_secs(30);
/// // `call` comes below `within` only in an `async` block of its own.
/// let response = deadline::within(limit, async { client.call(Request::new(())).await }).await?;
/// assert_eq!(response.into_body(), Some(limit));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ClientDeadline;

impl ClientDeadline {
    /// Returns the layer.
    #[must_use = "a layer does nothing until it is put around a service"]
    pub const fn new() -> Self {
        Self
    }
}

impl<S> Layer<S> for ClientDeadline {
    type Service = ClientService<S>;

    fn layer(&self, inner: S) -> ClientService<S> {
        ClientService { inner }
    }
}

/// A service whose requests carry their deadline. [`ClientDeadline`] makes it.
#[derive(Debug, Clone)]
pub struct ClientService<S> {
    inner: S,
}

impl<S, B> Service<Request<B>> for ClientService<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        to_header(request.headers_mut());
        self.inner.call(request)
    }
}
