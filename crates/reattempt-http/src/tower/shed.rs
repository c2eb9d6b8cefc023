//! The layer that refuses requests for which too little time is left.

use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use retry_runtime::deadline::{Deadline, remaining};
use tower_layer::Layer;
use tower_service::Service;

use super::server::{ServerFuture, refusal};
use crate::protocol;

/// A layer that refuses requests whose callers will not wait for the answer: it goes between a queue and the service.
///
/// A server that has too much to do works off a queue. If it takes the oldest request first, and each waits as long as its
/// caller does, then every answer comes too late, and the server does nothing of use. The layer refuses such requests before
/// any work: those whose deadline is over, and those that have less time left than the work needs. It answers as
/// [`ServerProtocol`](super::ServerProtocol) does.
///
/// The time counts from when [`ServerProtocol`](super::ServerProtocol) reads it, so that layer goes in front of the queue.
/// A layer such as tower's `ConcurrencyLimit` lets requests wait before any layer around it sees them. So between the two
/// there has to be one that takes requests at once: tower's `buffer`, or a `Router::layer` of axum for each of them. A
/// request of which nobody says how long its caller waits is never refused.
///
/// # Units and ranges
///
/// The time that the work needs, from 0, which refuses a request when its deadline is over. Rather too much than too
/// little: what is accepted with less is done in vain.
///
/// # Examples
///
/// ```
/// use http::{Request, Response, StatusCode};
/// use reattempt::tower::{DeadlineShed, ServerProtocol};
/// use std::convert::Infallible;
/// use std::time::Duration;
/// use tower::{Service, ServiceBuilder, service_fn};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut service = ServiceBuilder::new()
///     .layer(ServerProtocol::new())
///     // .buffer(1000).concurrency_limit(20)
///     .layer(DeadlineShed::new(Duration::from_millis(50)))
///     .service(service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new("done"))));
///
/// for (left, status) in [(51, StatusCode::OK), (20, StatusCode::GATEWAY_TIMEOUT)] {
///     let request = Request::builder().header("retry-context", format!("left={left}"));
///     assert_eq!(service.call(request.body(())?).await?.status(), status);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use = "a layer does nothing until it is put around a service"]
pub struct DeadlineShed {
    needs: Duration,
}

impl DeadlineShed {
    /// Returns a layer in front of work that needs this time.
    pub const fn new(needs: Duration) -> Self {
        Self { needs }
    }
}

impl<S> Layer<S> for DeadlineShed {
    type Service = ShedService<S>;

    fn layer(&self, inner: S) -> ShedService<S> {
        ShedService {
            inner,
            needs: self.needs,
        }
    }
}

/// The service of [`DeadlineShed`].
#[derive(Debug, Clone)]
pub struct ShedService<S> {
    inner: S,
    needs: Duration,
}

impl<S, B, R> Service<Request<B>> for ShedService<S>
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
        // In another task only the request has it.
        let own = request.extensions().get::<Deadline>();
        let left = own.map(|deadline| deadline.remaining());
        let left = left.into_iter().chain(remaining()).min();
        if left.is_some_and(|left| left.is_zero() || left < self.needs) {
            let headers = request.headers();
            let incoming = protocol::Request::from_headers(headers);
            ServerFuture::refused(refusal(&incoming, headers))
        } else {
            ServerFuture::plain(self.inner.call(request))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::StatusCode;
    use tower::{ServiceExt as _, service_fn};

    use super::*;

    const WORK: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn what_has_less_time_left_than_the_work_needs_is_refused() {
        let halves = |number| WORK / 2 * number;
        let table = [
            // of the request, of its surroundings, what is needed
            (None, None, WORK, StatusCode::OK),
            (Some(halves(3)), None, WORK, StatusCode::OK),
            (Some(halves(1)), None, WORK, StatusCode::GATEWAY_TIMEOUT),
            (None, Some(halves(1)), WORK, StatusCode::GATEWAY_TIMEOUT),
            (
                Some(halves(3)),
                Some(halves(1)),
                WORK,
                StatusCode::GATEWAY_TIMEOUT,
            ),
            (
                Some(halves(1)),
                Some(halves(3)),
                WORK,
                StatusCode::GATEWAY_TIMEOUT,
            ),
            (Some(halves(3)), Some(halves(4)), WORK, StatusCode::OK),
            (Some(halves(1)), None, Duration::ZERO, StatusCode::OK),
            (
                Some(Duration::ZERO),
                None,
                Duration::ZERO,
                StatusCode::GATEWAY_TIMEOUT,
            ),
        ];
        for (own, around, needs, status) in table {
            let inner = service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new(())));
            let mut request = Request::new(());
            if let Some(left) = own {
                request.extensions_mut().insert(Deadline::after(left));
            }
            let answer = DeadlineShed::new(needs).layer(inner);
            let around = around.map(Deadline::after);
            let answer =
                retry_runtime::deadline::scope(around, async { answer.oneshot(request).await });
            assert_eq!(answer.await.map(|answer| answer.status()), Ok(status));
        }
    }
}
