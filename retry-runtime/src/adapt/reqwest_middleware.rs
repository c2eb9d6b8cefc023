//! A policy around the client of reqwest-middleware.

use async_trait::async_trait;

use super::chain::in_chain;
use crate::attempt::Cause;
use crate::call::Call;
use crate::http::{HasMethod as _, HasStatus, Statuses};
use crate::operation::Operation;
use crate::policy::Policy;
use crate::private::{Until, endured, failed, pause, succeeded};
use crate::timer::{ByFeature, ForAsync as _};
use crate::verdict::{Classify, Verdict};

/// Runs a [`Policy`] over the requests of a client, as middleware.
///
/// Retried are responses by their status and their `Retry-After`, and errors by [`Classify`]. When the call
/// gives up, its caller gets the last answer untouched: the error, or the response of a bad status. A request
/// whose body is a stream is sent once; one whose method is not idempotent and that has no
/// [`IDEMPOTENCY_KEY`](crate::http::IDEMPOTENCY_KEY) is treated as with `idempotent = false`, unless the policy
/// says [`idempotent(true)`](Policy::idempotent) itself.
///
/// A [`Policy`] among the extensions of a request holds instead of that of the middleware. It is not
/// checked. Deadlines are looked at between attempts, and `timeout` is not: reqwest has one of its own.
///
/// # Cancel safety
///
/// Dropping the future of a call ends the attempt or the wait that is under way.
///
/// # Examples
///
/// ```ignore
/// let client = ClientBuilder::new(reqwest::Client::new())
///     .with(RetryMiddleware::new(Policy::background()))
///     .build();
///
/// let page = client.get(url).send().await?;
/// let page = client.get(url).with_extension(Policy::interactive()).send().await?;
/// ```
#[derive(Debug, Clone)]
#[must_use = "middleware does nothing until it is given to a client"]
pub struct RetryMiddleware {
    operation: Operation,
    statuses: Statuses,
}

impl RetryMiddleware {
    /// Middleware that retries by [`Statuses::STANDARD`].
    ///
    /// # Panics
    ///
    /// When `policy` breaks a rule, or has a `timeout`: reqwest's error cannot say that a call was cut off.
    #[track_caller]
    pub fn new(policy: Policy) -> Self {
        Self {
            operation: Operation::around(policy),
            statuses: Statuses::STANDARD,
        }
    }

    /// Retries by a table of your own.
    pub fn statuses(mut self, statuses: Statuses) -> Self {
        self.statuses = statuses;
        self
    }

    /// The name of the operation in telemetry.
    pub fn name(mut self, name: &'static str) -> Self {
        self.operation = self.operation.named(name);
        self
    }

    fn operation_for(&self, own: Option<&Policy>, is_idempotent: bool) -> Operation {
        let operation = match own {
            Some(policy) => Operation::new(self.operation.name(), *policy),
            None => self.operation,
        };
        operation.for_request(is_idempotent)
    }

    /// The verdict on a failure; `None` on a success.
    fn judge<R: HasStatus, E: Classify>(&self, answer: &Result<R, E>) -> Option<Verdict> {
        match answer {
            Ok(response) => self.statuses.retried(response),
            Err(error) => Some(error.classify()),
        }
    }
}

macro_rules! reqwest_middleware {
    ($middleware:ident, $reqwest:ident) => {
        #[async_trait]
        impl $middleware::Middleware for RetryMiddleware {
            async fn handle(
                &self,
                request: $reqwest::Request,
                extensions: &mut http::Extensions,
                next: $middleware::Next<'_>,
            ) -> $middleware::Result<$reqwest::Response> {
                let operation = self.operation_for(extensions.get(), request.is_idempotent());
                let timer = ByFeature.for_async();
                let until = Until::start(operation.policy(), &timer);
                let mut call = Call::new();
                let mut request = request;
                loop {
                    let again = request.try_clone();
                    let pause = {
                        let attempt = next.clone().run(request, extensions);
                        let Ok(answer) = endured(attempt, until, call, &timer).await;
                        let Some(verdict) = self.judge(&answer) else {
                            break succeeded(answer, &call);
                        };
                        let verdict = match again {
                            Some(_) => verdict,
                            None => Verdict::Permanent,
                        };
                        let cause = Cause::Error(&answer);
                        match failed(&mut call, &operation, until, &timer, cause, verdict) {
                            Ok(retry) => pause(retry.delay(), &timer),
                            Err(_) => break answer,
                        }
                    };
                    pause.await;
                    match again {
                        Some(copy) => request = copy,
                        None => unreachable!("without a copy there is no retry"),
                    }
                }
            }
        }

        /// What other middleware says is final, unless a connection broke below it.
        #[diagnostic::do_not_recommend]
        impl Classify for $middleware::Error {
            fn classify(&self) -> Verdict {
                match self {
                    Self::Reqwest(error) => error.classify(),
                    Self::Middleware(error) => {
                        in_chain(error.as_ref()).unwrap_or(Verdict::Permanent)
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
