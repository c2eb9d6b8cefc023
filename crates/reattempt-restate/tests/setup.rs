//! Mistakes that are refused before anything is served or submitted, and their messages.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use reattempt::{Jitter, Policy};
use reattempt_restate::{Handlers, submit};
use reattempt_supervisor::{Submission, Workflow, WorkflowContext, workflow};
use restate_sdk::ingress::{Client, RequestExecutor};

#[workflow]
async fn plain(_context: &WorkflowContext, text: String, number: u8) -> Result<String, String> {
    Ok(format!("{text}{number}"))
}

#[workflow(name = "7th")]
async fn seventh(_context: &WorkflowContext) -> Result<(), String> {
    Ok(())
}

fn refusal(handlers: Handlers) -> String {
    handlers.endpoint().err().unwrap().to_string()
}

#[test]
fn handlers_say_what_restate_cannot_do() {
    assert!(refusal(Handlers::new()).contains("add `.register(...)`"));
    let twice = Handlers::new().register(plain).register(plain);
    assert!(refusal(twice).starts_with("two workflows are called `plain`"));
    let named = Handlers::new().register(seventh);
    assert!(refusal(named).starts_with("`7th` is not a name for a service of Restate"));
    let drawn = Policy::new().jitter(Jitter::Full);
    let message = refusal(Handlers::new().register(plain).delays(drawn));
    assert!(
        message.ends_with("add `.jitter(Jitter::None)`"),
        "{message}"
    );
}

/// Keeps the request instead of sending it.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<Option<Request<Bytes>>>>);

impl RequestExecutor for Sent {
    type Error = Infallible;

    async fn execute(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Infallible> {
        *self.0.lock().unwrap() = Some(request);
        let accepted = r#"{"invocationId": "inv_1", "status": "Accepted"}"#;
        Ok(Response::builder()
            .status(202)
            .header("x-restate-id", "inv_1")
            .body(accepted.into())
            .unwrap())
    }
}

async fn send<W: Workflow>(submission: Submission<W>) -> Result<Request<Bytes>, String> {
    let executor = Sent::default();
    let client = Client::new("http://localhost:8080".parse().unwrap(), executor.clone()).unwrap();
    submit(&client, submission)
        .await
        .map_err(|error| error.to_string())?;
    let request = executor.0.lock().unwrap().take();
    Ok(request.unwrap())
}

#[tokio::test]
async fn a_submission_is_a_request() {
    let new = plain("a".to_owned(), 7)
        .key("order 17/b")
        .headers("{\"trace\":\"1\"}")
        .complete_by(Duration::from_secs(2))
        .delay(Duration::from_secs(3));
    let request = send(new).await.unwrap();
    assert_eq!(
        request.uri().path(),
        "/restate/send/plain/order%2017%2Fb/run"
    );
    assert_eq!(request.body(), "[\"a\",7]");
    let query = request.uri().query().unwrap();
    assert!(query.contains("delay="), "{query}");
    assert_eq!(request.headers()["reattempt-headers"], "{\"trace\":\"1\"}");
    assert_eq!(request.headers()["reattempt-complete-by"], "2000");
    let first = send(plain(String::new(), 0)).await.unwrap();
    let other = send(plain(String::new(), 0)).await.unwrap();
    assert_ne!(first.uri(), other.uri());
}

#[tokio::test]
async fn submissions_that_restate_does_not_support_are_refused() {
    let queued = send(plain(String::new(), 0).queue("slow")).await;
    assert!(queued.unwrap_err().contains("no queues and no priorities"));
    let first = send(plain(String::new(), 0).priority(-1)).await;
    assert!(first.unwrap_err().contains("drop `queue` and `priority`"));
    let lines = send(plain(String::new(), 0).headers("{\n}")).await;
    assert!(lines.unwrap_err().contains("in one line of ASCII"));
}
