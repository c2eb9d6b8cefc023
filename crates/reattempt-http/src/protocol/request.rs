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

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use reattempt_core::inbound::learn;
    use reattempt_core::name::OperationId;
    use retry_runtime::deadline;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn headers(text: &str) -> HeaderMap {
        let text = HeaderValue::from_str(text);
        HeaderMap::from_iter([(RETRY_CONTEXT, text.expect("a value"))])
    }

    #[test]
    fn a_request_says_what_its_headers_say() {
        let silent = Request::from_headers(&HeaderMap::new());
        assert_eq!((silent.left(), silent.attempt()), (None, 1));
        assert!(!silent.is_expired() && silent.said.is_none());
        for (text, left, attempt, is_expired) in [
            ("left=1000, attempt=3", Some(SECOND), 3, false),
            ("attempt=2", None, 2, false),
            ("left=0", Some(Duration::ZERO), 1, true),
            ("nonsense=", None, 1, false),
        ] {
            let mut request = Request::from_headers(&headers(text));
            assert_eq!(
                (request.left(), request.attempt()),
                (left, attempt),
                "{text}"
            );
            assert_eq!(request.is_expired(), is_expired, "{text}");
            let (seen, bounded) = request.run(|| (deadline::attempt(), deadline::remaining()));
            assert_eq!((seen, bounded.is_some()), (attempt, left == Some(SECOND)));
        }
    }

    /// Names are heard in a retry alone.
    #[test]
    fn what_a_request_names_has_used_up_its_retries() {
        use reattempt_core::inbound::used_here;

        let retry = |attempt| format!("attempt={attempt}, used=(\"000000cd\")");
        let used = |attempt| Request::from_headers(&headers(&retry(attempt))).run(used_here);
        assert_eq!(used(2), [OperationId::shared(0xCD)]);
        assert!(used(1).is_empty());
    }

    #[test]
    fn the_shorter_time_of_a_request_of_grpc_holds() {
        for (method, version, left) in [
            (Method::POST, Version::HTTP_2, SECOND),
            (Method::GET, Version::HTTP_2, 2 * SECOND),
            (Method::POST, Version::HTTP_11, 2 * SECOND),
        ] {
            let request = http::Request::builder().method(method).version(version);
            let request = request
                .header("grpc-timeout", "1S")
                .header(RETRY_CONTEXT, "left=2000");
            let request = Request::of(&request.body(()).expect("a request"));
            assert_eq!(request.left(), Some(left));
        }
    }

    /// What has used up its retries, in place of what a service behind says of its callers.
    #[test]
    fn an_answer_names_what_was_retried() {
        let answer = |request: &Request, before: &str| {
            let mut answer = headers(before);
            request.to_answer(&mut answer);
            AnswerField::read(&answer)
        };
        let used = |field: &AnswerField| {
            field
                .used
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        let mut request = Request::from_headers(&headers("attempt=2"));
        let nothing = answer(&request, "callers=7");
        assert_eq!(nothing, AnswerField::default());
        request.run(|| learn(OperationId::shared(0xAB)));
        let said = answer(&request, "callers=7, after=1000");
        assert_eq!(
            (used(&said), said.callers),
            (vec!["000000ab".to_owned()], None)
        );
        assert_eq!(said.after, Some(SECOND));
        // Its caller reads no field.
        let silent = Request::from_headers(&HeaderMap::new());
        assert_eq!(answer(&silent, "callers=7").callers, Some(7));
    }

    #[test]
    fn a_refusal_says_that_the_request_came_too_late() {
        let refused = |request: &Request| {
            let mut headers = HeaderMap::new();
            request.to_refusal(&mut headers);
            AnswerField::read(&headers).is_expired
        };
        assert!(refused(&Request::from_headers(&headers("left=0"))));
        assert!(!refused(&Request::from_headers(&HeaderMap::new())));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_holds_in_each_poll_of_its_future() {
        let request = Request::from_headers(&headers("attempt=3"));
        let served = request.scope(async {
            let before = deadline::attempt();
            tokio::time::sleep(SECOND).await;
            learn(OperationId::shared(0xAB));
            (before, deadline::attempt())
        });
        let (seen, request) = served.await;
        assert_eq!(seen, (3, 3));
        let mut answer = HeaderMap::new();
        request.to_answer(&mut answer);
        assert_eq!(answer[RETRY_CONTEXT], "used=(\"000000ab\")");
    }
}
