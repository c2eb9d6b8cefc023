//! A policy around the client of reqwest-middleware.

use std::fmt;

use async_trait::async_trait;

use reattempt_core::http::{FollowsRedirects, HasMethod as _, HasStatus, Statuses, has_status};
use retry_runtime::driver::{
    AttemptStart, BudgetGate, CallContext, Described, ErrorText, Gate as _, LiveCall, TimedOut,
    attempt_span, by_code_alone, limited, spanned,
};
use retry_runtime::rules::Violation;
use retry_runtime::timer::{DefaultTimer, IntoTimer as _};
use retry_runtime::{
    Budget, Cause, Classify, GaveUp, HookOf, Policy, Retry, SharedRetryHook, Verdict,
};

use crate::operation::ClientOperation;
use crate::protocol::Edge;

/// Runs a [`Policy`] over the requests of a client, as middleware.
///
/// It retries responses by their status and their `Retry-After`, and errors by
/// [`Classify`](retry_runtime::Classify). When
/// the call gives up, its caller gets the last answer untouched: the error, or the response with a
/// bad status.
///
/// A request whose body is a stream is sent once. A request whose method is not idempotent and that
/// has no [`IDEMPOTENCY_KEY`](crate::http::IDEMPOTENCY_KEY) is treated as with `idempotent =
/// false`, unless the policy says [`idempotent(true)`](Policy::idempotent) itself.
///
/// A [`Policy`] among the extensions of a request replaces the policy of the middleware, such as
/// `Policy::new().max(1)` for a single attempt. It is not checked.
///
/// `timeout` and `deadline` cancel an attempt until the head of its response has come; the caller
/// reads the body later. A policy with one of them also cancels at an inherited deadline. A call
/// that ends so returns an error of the middleware with [`GaveUp`] in it.
///
/// Where reqwest has followed a redirect, the answer belongs to another request. It proves nothing
/// about the first request, which was executed. A response shows that by its URL. An error does not
/// show it, so no error proves that nothing ran, unless the client
/// [follows no redirects](Self::without_redirects).
///
/// # Cancel safety
///
/// Dropping the future of a call ends the attempt or the wait that is under way.
///
/// # Examples
///
/// ```ignore
/// use reattempt::{Policy, http::RetryMiddleware};
/// use reqwest_middleware::ClientBuilder;
///
/// let client = ClientBuilder::new(reqwest::Client::new())
///     .with(RetryMiddleware::new(Policy::background()))
///     .build();
///
/// let page = client.get(url).send().await?;
/// let page = client.get(url).with_extension(Policy::interactive()).send().await?;
/// ```
#[derive(Clone)]
#[must_use = "middleware does nothing until it is given to a client"]
pub struct RetryMiddleware<O = ()> {
    operation: ClientOperation,
    statuses: Statuses,
    is_unredirected: bool,
    hook: O,
}

impl RetryMiddleware {
    /// Returns middleware that retries by [`Statuses::STANDARD`].
    ///
    /// A policy that breaks an unsafe [rule](retry_runtime::rules) is reported when a call has
    /// failed under it, and is followed as far as no service suffers from it.
    /// [`try_new`](Self::try_new) refuses it.
    pub fn new(policy: Policy) -> Self {
        Self::of(ClientOperation::new(policy))
    }

    /// Returns the same middleware, for a policy that the running program has made.
    ///
    /// # Errors
    ///
    /// Returns the first unsafe rule that `policy` breaks.
    #[expect(
        clippy::result_large_err,
        reason = "the message has its numbers in it; a client is made once"
    )]
    pub fn try_new(policy: Policy) -> Result<Self, Violation> {
        ClientOperation::try_new(policy).map(Self::of)
    }

    fn of(operation: ClientOperation) -> Self {
        Self {
            operation: operation.for_instance(),
            statuses: Statuses::STANDARD,
            is_unredirected: false,
            hook: (),
        }
    }
}

impl<O> RetryMiddleware<O> {
    /// Retries by a table of your own.
    pub fn statuses(mut self, statuses: Statuses) -> Self {
        self.statuses = statuses;
        self
    }

    /// States that the client follows no redirects: it was built with `redirect::Policy::none()`.
    /// Then a connection that did not come about proves that nothing ran, and such a request is
    /// sent again, a `POST` too.
    pub fn without_redirects(mut self) -> Self {
        self.is_unredirected = true;
        self
    }

    /// Calls `hook` with each retry before its delay. [`Retry::error`] is the whole answer, a
    /// `reqwest_middleware::Result<Response>`.
    pub fn on_retry<F, R>(self, hook: F) -> RetryMiddleware<HookOf<F, R>>
    where
        F: Fn(&Retry<'_, R>),
    {
        RetryMiddleware {
            operation: self.operation,
            statuses: self.statuses,
            is_unredirected: self.is_unredirected,
            hook: HookOf::new(hook),
        }
    }

    /// Sets the name of the operation in telemetry. Middlewares of one name are one operation
    /// inside other retries.
    pub fn name(mut self, name: &'static str) -> Self {
        self.operation = self.operation.with_name(name);
        self
    }

    /// Pays for retries from `budget`, not from the budget of the policy; `budget` learns of every
    /// answer. The policy of a single request may have another budget.
    pub fn budget(mut self, budget: &'static Budget) -> Self {
        self.operation = self.operation.with_budget(budget);
        self
    }

    fn operation_for(&self, own: Option<&Policy>, is_idempotent: bool) -> ClientOperation {
        let operation = match own {
            Some(policy) => self.operation.clone().under(*policy),
            None => self.operation.clone(),
        };
        operation.for_request(is_idempotent)
    }

    /// Returns the verdict on a failure; `None` on a success.
    fn judge<R: HasStatus, E: FollowsRedirects>(
        &self,
        answer: &Result<R, E>,
        is_redirected: impl FnOnce(&R) -> bool,
    ) -> Option<Verdict> {
        Some(match answer {
            Ok(response) => {
                let verdict = self.statuses.retried(response)?;
                if is_redirected(response) {
                    verdict.into_ambiguous()
                } else {
                    verdict
                }
            }
            Err(error) if self.is_unredirected => error.classify_unredirected(),
            Err(error) => error.classify(),
        })
    }
}

impl<O> fmt::Debug for RetryMiddleware<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryMiddleware")
            .field("operation", &self.operation)
            .field("statuses", &self.statuses)
            .field("is_unredirected", &self.is_unredirected)
            .finish_non_exhaustive()
    }
}

/// Returns the answer of a call that gives up: the answer of its last attempt, or `end` where a
/// time limit ended that.
fn last_answer<R, E: From<GaveUp>>(
    failed: Result<(Result<R, E>, Verdict), TimedOut>,
    end: GaveUp,
) -> Result<R, E> {
    match failed {
        Ok((answer, _)) => answer,
        Err(_) => Err(end.timed_out().into()),
    }
}

/// Returns whether a response or an error has this status or code.
fn has_code<R: HasStatus, E: Classify>(answer: &Result<R, E>, code: &str) -> bool {
    match answer {
        Ok(response) => has_status(response, code),
        Err(error) => error.has_code(code),
    }
}

/// A middleware of reqwest-middleware that keeps the [protocol](crate::protocol): each request says how long its caller
/// waits, which attempt it is and what has used up its retries, and the calls around it learn from the answer.
///
/// A request to a host that is not known to belong to the own system says nothing: see [`Edge::of`]. reqwest takes the
/// header along where a host of the own system redirects to a foreign one.
///
/// Give it to the client after the [`RetryMiddleware`], which needs a [`name`](RetryMiddleware::name) by which other
/// processes know it.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "reqwest-middleware05")] {
/// use reattempt::Policy;
/// use reattempt::http::{ProtocolMiddleware, RetryMiddleware};
/// # use reqwest013 as reqwest;
/// # use reqwest_middleware05 as reqwest_middleware;
/// use reqwest_middleware::ClientBuilder;
///
/// let client = ClientBuilder::new(reqwest::Client::new())
///     .with(RetryMiddleware::new(Policy::new()).name("web"))
///     .with(ProtocolMiddleware::new())
///     .build();
/// # let _ = client; }
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[must_use = "middleware does nothing until it is given to a client"]
pub struct ProtocolMiddleware {
    edge: Option<Edge>,
}

impl ProtocolMiddleware {
    /// Returns a middleware whose callees are the hosts of its requests.
    pub const fn new() -> Self {
        Self { edge: None }
    }

    /// Returns a middleware of a client with one callee, which belongs to the own system. All instances of this program
    /// should give it the same name.
    pub fn to(name: &str) -> Self {
        Self::from(Edge::new(name))
    }
}

/// Of a client with this callee.
impl From<Edge> for ProtocolMiddleware {
    fn from(edge: Edge) -> Self {
        Self { edge: Some(edge) }
    }
}

macro_rules! reqwest_middleware {
    ($middleware:ident, $reqwest:ident) => {
        #[cfg_attr(not(target_os = "unknown"), async_trait)]
        #[cfg_attr(target_os = "unknown", async_trait(?Send))]
        impl $middleware::Middleware for ProtocolMiddleware {
            async fn handle(
                &self,
                mut request: $reqwest::Request,
                extensions: &mut http::Extensions,
                next: $middleware::Next<'_>,
            ) -> $middleware::Result<$reqwest::Response> {
                let url = request.url();
                let host = || Edge::of_host(url.host_str()?, url.port());
                let Some(edge) = self.edge.or_else(host) else {
                    return next.run(request, extensions).await;
                };
                let asked = url.clone();
                edge.to_request(request.headers_mut());
                let response = next.run(request, extensions).await?;
                // Behind a redirect another service has answered.
                if response.url().authority() == asked.authority() {
                    edge.from_answer(response.headers());
                }
                Ok(response)
            }
        }

        // In a browser nothing that waits can be sent to another thread.
        #[cfg_attr(not(target_os = "unknown"), async_trait)]
        #[cfg_attr(target_os = "unknown", async_trait(?Send))]
        impl<O> $middleware::Middleware for RetryMiddleware<O>
        where
            O: SharedRetryHook<$middleware::Result<$reqwest::Response>> + Send + Sync + 'static,
        {
            async fn handle(
                &self,
                request: $reqwest::Request,
                extensions: &mut http::Extensions,
                next: $middleware::Next<'_>,
            ) -> $middleware::Result<$reqwest::Response> {
                let is_idempotent = request.is_idempotent();
                let operation = self.operation_for(extensions.get(), is_idempotent);
                let timer = DefaultTimer.for_async();
                let context = CallContext::start(operation.operation(), &timer);
                let budget = operation.policy().shared_budget();
                let mut gates = budget.map(|budget| BudgetGate::new(budget, &timer));
                let mut call = LiveCall::start(|| operation.site(), context);
                let mut request = request;
                let url = request.url().clone();
                let is_redirected = |response: &$reqwest::Response| *response.url() != url;
                // Behind a redirect no row proves that nothing ran.
                let has_code = |answer: &$middleware::Result<$reqwest::Response>, code: &str| {
                    let is_proof = !matches!(answer, Ok(response) if is_redirected(response));
                    (is_idempotent || is_proof) && has_code(answer, code)
                };
                loop {
                    gates.begin(&timer);
                    let again = request.try_clone();
                    let start = AttemptStart::<1>::now(operation.policy(), &timer);
                    let attempt = next.clone().run(request, extensions);
                    let failures = call.failures();
                    let span = attempt_span(context, failures).resent(failures);
                    let attempt = spanned(span, attempt);
                    let outcome =
                        limited(attempt, context.attempt_limit(), &mut call, &timer).await;
                    let outcome = match call.in_time(outcome, context, &mut gates) {
                        Ok(outcome) => outcome,
                        Err((_, end)) => return Err(end.into()),
                    };
                    let failed = match outcome {
                        Ok(answer) => {
                            let verdict = self.judge(&answer, is_redirected).or_else(|| {
                                by_code_alone(operation.policy(), &|code| has_code(&answer, code))
                            });
                            match verdict {
                                Some(verdict) => Ok((answer, verdict)),
                                None => return call.succeeded(answer, context, &mut gates),
                            }
                        }
                        Err(timed_out) => Err(timed_out),
                    };
                    let (cause, verdict) = match &failed {
                        Ok((answer, verdict)) => (Cause::Error(answer), *verdict),
                        // The service may have executed an attempt that has begun.
                        Err(_) => (Cause::TimedOut, Verdict::Transient),
                    };
                    let verdict = match again {
                        Some(_) => verdict,
                        None => Verdict::Permanent,
                    };
                    let failure = Described::new(
                        cause,
                        |answer| {
                            ErrorText::of_answer(answer, || match answer {
                                Ok(response) => Some(response.status().to_string()),
                                Err(error) => error.message().map(ToString::to_string),
                            })
                        },
                        |answer, code| has_code(answer, code),
                    )
                    .since(start);
                    let failure = match again {
                        Some(_) => failure,
                        None => failure.without_code(),
                    };
                    let retry = match call.failed(context, &mut gates, failure, verdict) {
                        Ok(retry) => retry,
                        Err(end) => return last_answer(failed, end),
                    };
                    self.hook.on_retry(&retry);
                    let delay = retry.delay();
                    // The kill switch or a deadline may end the call after the delay.
                    let kept = (!delay.is_zero() && context.may_end()).then_some(failed);
                    call.pause(context, delay, ()).await;
                    if let Some(failed) = kept
                        && let Err(end) = call.resume(context)
                    {
                        return last_answer(failed, end);
                    }
                    call.retry_begins();
                    match again {
                        Some(copy) => request = copy,
                        None => unreachable!("without a copy there is no retry"),
                    }
                }
            }
        }
    };
}

#[cfg(feature = "reqwest-middleware04")]
reqwest_middleware!(reqwest_middleware04, reqwest012);
#[cfg(feature = "reqwest-middleware05")]
reqwest_middleware!(reqwest_middleware05, reqwest013);

#[cfg(test)]
mod tests {
    use http::Response;
    use retry_runtime::GiveUpReason;

    use super::*;

    #[test]
    fn a_middleware_has_its_callee() {
        let orders = Some(Edge::new("orders"));
        assert_eq!(ProtocolMiddleware::to("orders").edge, orders);
        assert_eq!(ProtocolMiddleware::new().edge, None);
    }

    /// A connection that was refused, perhaps behind a redirect.
    #[derive(Debug)]
    struct Refused;

    impl Classify for Refused {
        fn classify(&self) -> Verdict {
            Verdict::Transient
        }

        fn has_code(&self, code: &str) -> bool {
            code == "connection"
        }
    }

    impl FollowsRedirects for Refused {
        fn classify_unredirected(&self) -> Verdict {
            Verdict::Refused
        }
    }

    impl From<GaveUp> for Refused {
        fn from(_: GaveUp) -> Self {
            Self
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "as a service answers")]
    fn answer(status: u16) -> Result<Response<()>, Refused> {
        let mut response = Response::new(());
        *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
        Ok(response)
    }

    /// Behind a redirect an answer proves nothing of the first request.
    #[test]
    fn a_redirect_takes_the_proof_away() {
        let new = RetryMiddleware::new(Policy::new());
        let of_429 = [Some(Verdict::Throttled(None)), Some(Verdict::Transient)];
        for (answer, expected) in [
            (answer(429), of_429),
            (answer(200), [None, None]),
            (Err(Refused), [Some(Verdict::Transient); 2]),
        ] {
            let judged = [false, true].map(|redirected| new.judge(&answer, |_| redirected));
            assert_eq!(judged, expected);
        }
        let unredirected = new.clone().without_redirects();
        let judged = unredirected.judge(&Err::<Response<()>, _>(Refused), |_| false);
        assert_eq!(judged, Some(Verdict::Refused));
        let own = new.statuses(Statuses::NONE.refused(418));
        assert_eq!(own.judge(&answer(418), |_| false), Some(Verdict::Refused));
        assert_eq!(own.judge(&answer(503), |_| false), None);
        assert!(RetryMiddleware::try_new(Policy::new().max(0)).is_err());
    }

    #[test]
    fn an_answer_has_its_status_or_the_code_of_its_error() {
        for (answer, code) in [(answer(503), "503"), (Err(Refused), "connection")] {
            for other in ["503", "connection"] {
                assert_eq!(has_code(&answer, other), code == other);
            }
        }
    }

    #[test]
    fn a_call_that_gives_up_has_its_last_answer() {
        let end = GaveUp::new(GiveUpReason::Attempts, 2);
        let last = last_answer(Ok((answer(503), Verdict::Transient)), end);
        assert_eq!(last.map(|it| it.status().as_u16()).ok(), Some(503));
    }
}
