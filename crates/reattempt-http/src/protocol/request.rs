//! The side of the receiver: what a request says holds where it is served, and the answer says what was retried.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderMap, Method, Version};
use pin_project_lite::pin_project;
use reattempt_core::inbound::Inbound;

use super::{callers, grpc, names};
use reattempt_core::http::context::{AnswerField, MAX_NAMES, RETRY_CONTEXT, RequestField};

/// What a request says about the call that it belongs to.
#[derive(Debug)]
pub struct Request {
    left: Option<Duration>,
    attempt: u32,
    /// Its caller reads the field in an answer.
    has_field: bool,
    /// `None` where it says nothing. In a box: most requests have none, and it moves with each poll.
    said: Option<Box<Said>>,
}

#[derive(Debug)]
struct Said {
    inbound: Inbound,
    /// How many processes call, where its caller has asked.
    callers: Option<u32>,
}

impl Request {
    /// Reads a request. The time that is left counts from now.
    ///
    /// Of the time in `Retry-Context` and the `grpc-timeout` of a request of gRPC the shorter one holds.
    #[inline]
    pub fn of<B>(request: &http::Request<B>) -> Self {
        let may_be_grpc = request.version() == Version::HTTP_2 && request.method() == Method::POST;
        let headers = request.headers();
        Self::new(RequestField::find(headers), || {
            may_be_grpc.then(|| grpc::timeout(headers))?
        })
    }

    /// Reads the `Retry-Context` in the headers of a request, and nothing else.
    pub fn from_headers(headers: &HeaderMap) -> Self {
        Self::new(RequestField::find(headers), || None)
    }

    #[inline]
    fn new(field: Option<RequestField>, left: impl FnOnce() -> Option<Duration>) -> Self {
        let own = field.as_ref().and_then(|field| field.left);
        let left = own.into_iter().chain(left()).min();
        // Apart, so that nothing has to be dropped where nothing is said.
        match field {
            Some(field) => Self::that_says(Some(field), left),
            None if left.is_some() => Self::that_says(None, left),
            None => Self {
                left,
                attempt: 1,
                has_field: false,
                said: None,
            },
        }
    }

    #[inline(never)]
    fn that_says(field: Option<RequestField>, left: Option<Duration>) -> Self {
        let has_field = field.is_some();
        let field = field.unwrap_or_default();
        // Under a deadline that is over every call would end at once, which is not better than a refusal.
        let holds = left.filter(|left| !left.is_zero());
        let is_retry = field.attempt > 1;
        let used = field.used.iter().filter(|_| is_retry);
        let used = used.filter_map(|name| names::operation_of(name));
        let inbound = Inbound::new(field.attempt, holds, field.is_low, used);
        Self {
            left,
            attempt: field.attempt,
            has_field,
            said: Some(Box::new(Said {
                inbound,
                callers: field.from.as_deref().and_then(callers::count),
            })),
        }
    }

    /// Returns the time that its caller waits, counted from when the headers were read; `None` where it says none.
    pub const fn left(&self) -> Option<Duration> {
        self.left
    }

    /// Returns the number of the attempt that it belongs to, from 1; 1 where it says none.
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns whether its caller does not wait any more. Such a request is better refused than served.
    pub fn is_expired(&self) -> bool {
        self.left.is_some_and(|left| left.is_zero())
    }

    /// Returns whether nothing holds where it is served, and its answer says nothing.
    #[cfg(feature = "tower")]
    pub(crate) const fn says_nothing(&self) -> bool {
        self.said.is_none()
    }

    /// Runs `f`, which serves the request: the deadline, the priority and the attempt hold there. The deadline of a request
    /// that has expired does not.
    pub fn run<R>(&mut self, f: impl FnOnce() -> R) -> R {
        match &mut self.said {
            Some(said) => said.inbound.run(f),
            None => f(),
        }
    }

    /// Does the same for a future. The request comes back with its output.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops `future`; nothing else is kept.
    pub const fn scope<F: Future>(self, future: F) -> Served<F> {
        Served {
            future,
            request: Some(self),
        }
    }

    /// Writes into the headers of its answer what has used up its retries while it was served, and how many processes call,
    /// if its caller has asked.
    pub fn to_answer(&self, headers: &mut HeaderMap) {
        if !self.has_field {
            return;
        }
        let mut field = AnswerField::read(headers);
        // Those of a service behind this one, if the handler passes its answer on.
        let is_foreign = field.callers.take().is_some();
        if let Some(said) = &self.said {
            field.callers = said.callers;
            let names = said.inbound.used().into_iter().filter_map(names::name_of);
            field.used = names.take(MAX_NAMES).collect();
        }
        if is_foreign {
            headers.remove(RETRY_CONTEXT);
        }
        field.write(headers);
    }

    /// Writes into the headers of its answer that it came after its time, and that nothing was done for it.
    pub fn to_refusal(&self, headers: &mut HeaderMap) {
        if self.has_field {
            let field = AnswerField {
                is_expired: true,
                callers: self.said.as_ref().and_then(|said| said.callers),
                ..AnswerField::default()
            };
            field.write(headers);
        }
    }
}

pin_project! {
    /// A future that serves a request: made by [`Request::scope`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Served<F> {
        #[pin]
        future: F,
        // `None` after the last poll.
        request: Option<Request>,
    }
}

impl<F: Future> Future for Served<F> {
    type Output = (F::Output, Request);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Some(mut request) = this.request.take() else {
            return Poll::Pending;
        };
        let polled = request.run(|| this.future.poll(cx));
        match polled {
            Poll::Ready(output) => Poll::Ready((output, request)),
            Poll::Pending => {
                *this.request = Some(request);
                Poll::Pending
            }
        }
    }
}
