//! The layer and the service that it makes.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use reattempt_core::http::Statuses;
use retry_runtime::rules::Violation;
use retry_runtime::timer::{DefaultTimer, IntoTimer, Timer};
use retry_runtime::{Breaker, Budget, Bulkhead, HookOf, Policy, Retry, SharedRetryHook, Throttle};
use tower_layer::Layer;
use tower_service::Service;

#[cfg(feature = "tonic014")]
use super::classifier::GrpcClassifier;
use super::classifier::{ErrorClassifier, FnClassifier, JudgeAnswer, StatusClassifier};
use super::cloner::{CloneRequest, CloneWith, RequestCloner};
use super::ends::sealed::Sealed;
use super::ends::{Limits, MayEnd};
use super::future::RetryFuture;
use super::idempotency::HasIdempotency;
use super::plan::Plan;
use crate::operation::ClientOperation;

/// A layer that runs a [`Policy`] over a service.
///
/// The layer clones the service for each call, as `tower::retry` does. It clones the request, too;
/// [`clone_request`](Self::clone_request) sets a function for requests that are not `Clone`. When
/// the call gives up, its caller gets the last answer untouched: the error, or the response with a
/// bad status.
///
/// Each attempt is a call of the inner service, after a `poll_ready` of its own. It sees the
/// deadline of the policy and that it is inside a retry, as with `#[retry]`; so
/// [`ClientProtocol`](crate::tower::ClientProtocol) belongs inside. The layer tests the deadline
/// between attempts, also while the service has no room for an attempt. An attempt that runs goes on
/// beyond the deadline, because the error of a service need not be able to report its end: where it
/// is, [`cut_off`](Self::cut_off) lets the deadline cancel the attempt, and [`breaker`](Self::breaker),
/// [`bulkhead`](Self::bulkhead) and [`throttle`](Self::throttle) may refuse one.
///
/// # If it does not compile
///
/// The compiler may only say that a method such as `oneshot` or `call` is not there. Then
///
/// * the request is not `Clone`: [`clone_request`](Self::clone_request) says how it is cloned, for
///   reqwest `clone_request(reqwest::Request::try_clone)`. The bodies of axum and of tonic are not
///   `Clone` either;
/// * or the error of the service is not [`Classify`](retry_runtime::Classify), as boxed errors are
///   not: see [`on_answer`](Self::on_answer), or let `map_err` inside make an error that is;
/// * or something can end a call without an answer of the service, such as [`cut_off`](Self::cut_off) or a
///   [`breaker`](Self::breaker), and its error has no `From<GaveUp>`: let `map_err` inside make one that has.
///
/// # Cancel safety
///
/// Dropping the future of a call ends the attempt or the wait that is under way.
///
/// # Examples
///
/// ```
/// use http::{Request, Response, StatusCode};
/// use reattempt::Policy;
/// use reattempt::tower::RetryLayer;
/// use std::convert::Infallible;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// static CALLS: AtomicU32 = AtomicU32::new(0);
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Infallible> {
/// let flaky = service_fn(async |_: Request<()>| {
///     let mut response = Response::new(());
///     if CALLS.fetch_add(1, Ordering::Relaxed) < 2 {
///         *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
///     }
///     Ok::<_, Infallible>(response)
/// });
/// let service = RetryLayer::http(Policy::interactive()).layer(flaky);
///
/// let response = service.oneshot(Request::new(())).await?;
/// assert_eq!((response.status(), CALLS.load(Ordering::Relaxed)), (StatusCode::OK, 3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a layer does nothing until it is put around a service"]
pub struct RetryLayer<J = ErrorClassifier, C = CloneRequest, O = (), T = DefaultTimer, L = ()> {
    operation: ClientOperation,
    judge: J,
    cloner: C,
    hook: O,
    timer: T,
    ends: L,
}

impl RetryLayer {
    /// Returns a layer that retries errors of the service by [`Classify`](retry_runtime::Classify).
    ///
    /// A policy that breaks an unsafe [rule](retry_runtime::rules) is reported when a call has
    /// failed under it, and is followed as far as no service suffers from it.
    /// [`try_new`](Self::try_new) refuses it.
    ///
    /// # Panics
    ///
    /// Panics when `policy` has a `timeout`: the error of the service cannot say that an attempt
    /// was cancelled. A time-out belongs into an inner layer, such as that of `tower::timeout`.
    #[track_caller]
    pub fn new(policy: Policy) -> Self {
        match ClientOperation::new(policy).without_timeout() {
            Ok(operation) => Self::of(operation),
            Err(refusal) => refusal.refuse(),
        }
    }

    /// Returns the same layer, for a policy that the running program has made.
    ///
    /// # Errors
    ///
    /// Returns the first unsafe rule that `policy` breaks, or that it has a `timeout`.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Policy;
    /// use reattempt::tower::RetryLayer;
    ///
    /// let refused = RetryLayer::try_new(Policy::new().max(0)).unwrap_err();
    ///
    /// assert_eq!(refused.rule().as_str(), "R1");
    /// ```
    #[expect(
        clippy::result_large_err,
        reason = "the message has its numbers in it; a layer is made once"
    )]
    pub fn try_new(policy: Policy) -> Result<Self, Violation> {
        ClientOperation::try_new(policy)?
            .without_timeout()
            .map(Self::of)
    }

    fn of(operation: ClientOperation) -> Self {
        Self {
            operation,
            judge: ErrorClassifier,
            cloner: CloneRequest,
            hook: (),
            timer: DefaultTimer,
            ends: (),
        }
    }
}

impl RetryLayer<StatusClassifier> {
    /// Returns a layer that retries responses by [`Statuses::STANDARD`] and their `Retry-After`,
    /// and errors of the service by [`Classify`](retry_runtime::Classify).
    ///
    /// A request whose method is not idempotent and that has no
    /// [`IDEMPOTENCY_KEY`](crate::http::IDEMPOTENCY_KEY) is treated as with `idempotent = false`,
    /// unless the policy says [`idempotent(true)`](Policy::idempotent) itself.
    ///
    /// # Panics
    ///
    /// Panics as [`new`](RetryLayer::new) does.
    #[track_caller]
    pub fn http(policy: Policy) -> Self {
        RetryLayer::new(policy).with_judge(StatusClassifier(Statuses::STANDARD))
    }

    /// Returns the same layer as [`http`](Self::http), for a policy that the running program has
    /// made.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`try_new`](RetryLayer::try_new).
    #[expect(
        clippy::result_large_err,
        reason = "the message has its numbers in it; a layer is made once"
    )]
    pub fn try_http(policy: Policy) -> Result<Self, Violation> {
        RetryLayer::try_new(policy)
            .map(|layer| layer.with_judge(StatusClassifier(Statuses::STANDARD)))
    }
}

impl<C, O, T, L> RetryLayer<StatusClassifier, C, O, T, L> {
    /// Retries by a table of your own.
    pub fn statuses(mut self, statuses: Statuses) -> Self {
        self.judge = StatusClassifier(statuses);
        self
    }
}

#[cfg(feature = "tonic014")]
impl RetryLayer<GrpcClassifier> {
    /// Returns a layer that retries calls of gRPC by the status in the head of the answer, with its
    /// pushback, and errors of the service by [`Classify`](retry_runtime::Classify).
    ///
    /// A status that comes after a message, or after headers without a status, goes to the caller:
    /// the call is committed. Where the whole call is one function, `#[retry]` sees such a status,
    /// too.
    ///
    /// A body of tonic cannot be sent twice. So an outer layer collects it, and an inner layer
    /// makes a body of tonic of it again, here with `AsyncFilterLayer` of tower and `Full` of
    /// http-body-util:
    ///
    /// ```ignore
    /// use http::Request;
    /// use http_body_util::{BodyExt, Full};
    /// use reattempt::{Budget, Policy, tower::RetryLayer};
    /// use tonic::{Status, body::Body};
    /// use tower::{ServiceBuilder, filter::AsyncFilterLayer}; // features `filter` and `util`
    ///
    /// static GREETER: Budget = Budget::grpc(10, 0.1);
    ///
    /// let channel = ServiceBuilder::new()
    ///     .layer(AsyncFilterLayer::new(async |request: Request<Body>| {
    ///         let (head, body) = request.into_parts();
    ///         let body = body.collect().await?.to_bytes();
    ///         Ok::<_, Status>(Request::from_parts(head, Full::new(body)))
    ///     }))
    ///     .layer(RetryLayer::grpc(Policy::interactive()).budget(&GREETER))
    ///     .map_request(|request: Request<Full<Bytes>>| request.map(Body::new))
    ///     .service(channel);
    /// let client = GreeterClient::new(channel);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics as [`new`](RetryLayer::new) does.
    #[track_caller]
    pub fn grpc(policy: Policy) -> Self {
        RetryLayer::new(policy).with_judge(GrpcClassifier)
    }

    /// Returns the same layer as [`grpc`](Self::grpc), for a policy that the running program has
    /// made.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`try_new`](RetryLayer::try_new).
    #[expect(
        clippy::result_large_err,
        reason = "the message has its numbers in it; a layer is made once"
    )]
    pub fn try_grpc(policy: Policy) -> Result<Self, Violation> {
        RetryLayer::try_new(policy).map(|layer| layer.with_judge(GrpcClassifier))
    }
}

impl<J, C, O, T, L> RetryLayer<J, C, O, T, L> {
    /// Retries the answers for which `on` returns `true` or a retryable
    /// [`Verdict`](retry_runtime::Verdict). Write out the type of its parameter, which is the whole
    /// answer.
    ///
    /// A layer of [`http`](RetryLayer::http) still reads from requests whether they are idempotent.
    /// Boxed errors, such as those of `tower::timeout`, have no verdict of their own:
    ///
    /// ```
    /// use http::Response;
    /// use reattempt::http::Statuses;
    /// use reattempt::{Policy, Verdict};
    /// use reattempt::tower::RetryLayer;
    /// use std::error::Error;
    ///
    /// type Answer = Result<Response<Vec<u8>>, Box<dyn Error + Send + Sync>>;
    ///
    /// let layer = RetryLayer::http(Policy::interactive()).on_answer(|answer: &Answer| match answer {
    ///     Ok(response) => Statuses::STANDARD.verdict(response.status(), response.headers()),
    ///     Err(_) => Verdict::Transient,
    /// });
    /// ```
    #[doc(alias = "on")]
    pub fn on_answer<F>(self, on: F) -> RetryLayer<FnClassifier<F, J::Idempotency>, C, O, T, L>
    where
        J: HasIdempotency,
    {
        let idempotency = J::Idempotency::default();
        self.with_judge(FnClassifier { on, idempotency })
    }

    pub(super) fn with_judge<K>(self, judge: K) -> RetryLayer<K, C, O, T, L> {
        RetryLayer {
            operation: self.operation,
            judge,
            cloner: self.cloner,
            hook: self.hook,
            timer: self.timer,
            ends: self.ends,
        }
    }

    /// Lets the `deadline` of the policy cancel the attempt that runs, as that of `#[retry]` does: also an inherited deadline,
    /// if the policy has one of its own. The call then ends with an error of the service that is made of a
    /// [`GaveUp`](retry_runtime::GaveUp): boxed errors have that, as does
    /// [`RequestError`](crate::http::RequestError).
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Policy, tower::RetryLayer};
    /// use std::{future::pending, io, time::Duration};
    /// use tower::{Layer, ServiceExt, service_fn};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let hangs = service_fn(|_: u8| pending::<io::Result<u8>>());
    /// let policy = Policy::new().deadline(Duration::from_secs(2));
    /// let service = RetryLayer::new(policy).cut_off().layer(hangs);
    ///
    /// assert!(service.oneshot(1).await.is_err());
    /// # }
    /// ```
    pub fn cut_off(self) -> RetryLayer<J, C, O, T, L::CutOff>
    where
        L: Sealed,
    {
        self.ending(L::cut_off)
    }

    /// Makes no attempt while `breaker` is open, and reports the results of attempts to it.
    ///
    /// A call that it refuses ends with the last answer; without one, with an error of the service that is made of a
    /// [`GaveUp`](retry_runtime::GaveUp), as with [`cut_off`](Self::cut_off), which is included.
    pub fn breaker(self, breaker: &'static Breaker) -> RetryLayer<J, C, O, T, Limits>
    where
        L: Into<Limits>,
    {
        self.limited(|limits| limits.breaker = Some(breaker))
    }

    /// Makes no attempt while `bulkhead` is full, and lets one that finds its size learn from the attempts. An attempt has
    /// its slot from when it asks, also while it waits for the throttle or until the service is ready; a delay between
    /// attempts has none. A call that it refuses ends as with [`breaker`](Self::breaker).
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Bulkhead, Policy, tower::RetryLayer};
    /// use std::io;
    /// use tower::{Layer, ServiceExt, service_fn};
    ///
    /// static SEARCH: Bulkhead = Bulkhead::adaptive();
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> io::Result<()> {
    /// let search = service_fn(async |word: String| io::Result::Ok(word.len()));
    /// let service = RetryLayer::new(Policy::new()).bulkhead(&SEARCH).layer(search);
    ///
    /// assert_eq!(service.oneshot("retry".to_owned()).await?, 5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn bulkhead(self, bulkhead: &'static Bulkhead) -> RetryLayer<J, C, O, T, Limits>
    where
        L: Into<Limits>,
    {
        self.limited(|limits| limits.bulkhead = Some(bulkhead))
    }

    /// Makes no attempt that `throttle` refuses, and reports the results of attempts to it; an attempt waits for its turn.
    /// A call that it refuses ends as with [`breaker`](Self::breaker). Meanwhile the service keeps the room that it has
    /// made for the first attempt.
    pub fn throttle(self, throttle: &'static Throttle) -> RetryLayer<J, C, O, T, Limits>
    where
        L: Into<Limits>,
    {
        self.limited(|limits| limits.throttle = Some(throttle))
    }

    fn limited(self, set: impl FnOnce(&mut Limits)) -> RetryLayer<J, C, O, T, Limits>
    where
        L: Into<Limits>,
    {
        self.ending(|ends| {
            let mut limits = ends.into();
            set(&mut limits);
            limits
        })
    }

    fn ending<M>(self, ends: impl FnOnce(L) -> M) -> RetryLayer<J, C, O, T, M> {
        RetryLayer {
            operation: self.operation,
            judge: self.judge,
            cloner: self.cloner,
            hook: self.hook,
            timer: self.timer,
            ends: ends(self.ends),
        }
    }

    /// Clones requests that are not `Clone` with a function: `|request: &Request| ->
    /// Option<Request>`. Where it returns `None`, there is one attempt.
    ///
    /// The layer calls it before the first attempt, which may use the request up, and before each
    /// further attempt.
    pub fn clone_request<F>(self, clone: F) -> RetryLayer<J, CloneWith<F>, O, T, L> {
        RetryLayer {
            operation: self.operation,
            judge: self.judge,
            cloner: CloneWith(clone),
            hook: self.hook,
            timer: self.timer,
            ends: self.ends,
        }
    }

    /// Calls `hook` with each retry before its delay. [`Retry::error`] is the whole answer:
    /// `|retry| match retry.error() { Some(Ok(response)) => ..., Some(Err(error)) => ..., None => {} }`.
    pub fn on_retry<F, R>(self, hook: F) -> RetryLayer<J, C, HookOf<F, R>, T, L>
    where
        F: Fn(&Retry<'_, R>),
    {
        RetryLayer {
            operation: self.operation,
            judge: self.judge,
            cloner: self.cloner,
            hook: HookOf::new(hook),
            timer: self.timer,
            ends: self.ends,
        }
    }

    /// Waits with `timer` instead of the timer that the features choose.
    pub fn timer<U>(self, timer: U) -> RetryLayer<J, C, O, U, L> {
        RetryLayer {
            operation: self.operation,
            judge: self.judge,
            cloner: self.cloner,
            hook: self.hook,
            timer,
            ends: self.ends,
        }
    }

    /// Sets the name of the operation in telemetry. Layers of one name are one operation inside
    /// other retries.
    pub fn name(mut self, name: &'static str) -> Self {
        self.operation = self.operation.with_name(name);
        self
    }

    /// Pays for retries from `budget`, not from the budget of the policy; `budget` learns of every
    /// answer.
    pub fn budget(mut self, budget: &'static Budget) -> Self {
        self.operation = self.operation.with_budget(budget);
        self
    }
}

impl<J, C, O, T, L> fmt::Debug for RetryLayer<J, C, O, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryLayer")
            .field("operation", &self.operation)
            .finish_non_exhaustive()
    }
}

impl<S, J, C, O, T, L> Layer<S> for RetryLayer<J, C, O, T, L>
where
    J: Clone,
    C: Clone,
    O: Clone,
    T: IntoTimer + Clone,
    L: Clone,
{
    type Service = RetryService<S, J, C, O, T::Timer, L>;

    fn layer(&self, inner: S) -> Self::Service {
        RetryService {
            inner,
            plan: Arc::new(Plan {
                operation: self.operation.clone().for_instance(),
                judge: self.judge.clone(),
                cloner: self.cloner.clone(),
                hook: self.hook.clone(),
                timer: self.timer.clone().for_async(),
                ends: self.ends.clone(),
            }),
        }
    }
}

/// A service whose calls are retried. [`RetryLayer`] makes it.
pub struct RetryService<S, J, C, O, T, L = ()> {
    inner: S,
    plan: Arc<Plan<J, C, O, T, L>>,
}

impl<S: Clone, J, C, O, T, L> Clone for RetryService<S, J, C, O, T, L> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            plan: Arc::clone(&self.plan),
        }
    }
}

impl<S: fmt::Debug, J, C, O, T, L> fmt::Debug for RetryService<S, J, C, O, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryService")
            .field("inner", &self.inner)
            .field("operation", &self.plan.operation)
            .finish_non_exhaustive()
    }
}

impl<S, Req, J, C, O, T, L> Service<Req> for RetryService<S, J, C, O, T, L>
where
    S: Service<Req> + Clone,
    J: JudgeAnswer<Req, S::Response, S::Error>,
    C: RequestCloner<Req>,
    O: SharedRetryHook<Result<S::Response, S::Error>>,
    T: Timer,
    L: MayEnd<S::Error>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = RetryFuture<S, Req, J, C, O, T, L>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    #[inline]
    fn call(&mut self, request: Req) -> Self::Future {
        // The service that was ready makes the first attempt, a clone the others.
        RetryFuture::start(&self.plan, &mut self.inner, request)
    }
}
