//! A client of AWS whose service answers what is written here.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_sts::Client;
use aws_sdk_sts::config::retry::RetryConfig;
use aws_sdk_sts::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_sts::error::SdkError;
use aws_sdk_sts::operation::get_caller_identity::GetCallerIdentityError;
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use reattempt::Verdict::{self, Permanent, Throttled, Transient};
use reattempt::{Classify, retry};

type Answer = Result<HttpResponse, ConnectorError>;

/// Each request takes the first of them.
#[derive(Debug, Clone)]
struct Answers(Arc<Mutex<VecDeque<Answer>>>);

impl HttpConnector for Answers {
    fn call(&self, _: HttpRequest) -> HttpConnectorFuture {
        let answer = self.0.lock().unwrap().pop_front();
        HttpConnectorFuture::ready(answer.expect("there is no answer left"))
    }
}

fn client(answers: impl IntoIterator<Item = Answer>) -> Client {
    let answers = Answers(Arc::new(Mutex::new(answers.into_iter().collect())));
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("key", "secret", None, None, "test"))
        .http_client(http_client_fn(move |_, _| {
            SharedHttpConnector::new(answers.clone())
        }))
        .retry_config(RetryConfig::disabled());
    Client::from_conf(config.build())
}

fn answer(status: u16, headers: &[(&'static str, &'static str)], body: &'static str) -> Answer {
    let mut answer = http::Response::builder().status(status);
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    let answer = answer.body(SdkBody::from(body)).unwrap();
    Ok(HttpResponse::try_from(answer).unwrap())
}

const BUSY: &str = "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>";
const DENIED: &str = "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>";
const FINE: &str = "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>7</Account>
    </GetCallerIdentityResult></GetCallerIdentityResponse>";

async fn verdict(answer: Answer) -> Option<Verdict> {
    let asked = client([answer]).get_caller_identity().send().await;
    asked.err().map(|error| error.classify())
}

#[tokio::test]
async fn the_client_passes_on_what_the_service_says() {
    assert_eq!(verdict(answer(200, &[], FINE)).await, None);
    assert_eq!(verdict(answer(400, &[], BUSY)).await, Some(Throttled(None)));
    let asked = Some(Throttled(Some(Duration::from_millis(1500))));
    assert_eq!(
        verdict(answer(400, &[("x-amz-retry-after", "1500")], BUSY)).await,
        asked
    );
    let asked = Some(Verdict::TransientAfter(Duration::from_secs(3)));
    assert_eq!(
        verdict(answer(503, &[("retry-after", "3")], "")).await,
        asked
    );
    assert_eq!(verdict(answer(500, &[], "")).await, Some(Transient));
    assert_eq!(verdict(answer(403, &[], DENIED)).await, Some(Permanent));
    // An answer that cannot be read, to a request that was executed.
    assert_eq!(verdict(answer(200, &[], "<Get")).await, Some(Permanent));
}

#[tokio::test]
async fn what_breaks_without_an_answer() {
    let io = |kind| Box::new(io::Error::from(kind));
    let reset = ConnectorError::io(io(io::ErrorKind::ConnectionReset));
    assert_eq!(verdict(Err(reset)).await, Some(Transient));
    let late = ConnectorError::timeout(io(io::ErrorKind::TimedOut));
    assert_eq!(verdict(Err(late)).await, Some(Transient));
    let invalid = ConnectorError::user("no such method".into());
    assert_eq!(verdict(Err(invalid)).await, Some(Permanent));
    let without_credentials = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .http_client(http_client_fn(|_, _| unreachable!("nothing is sent")))
        .retry_config(RetryConfig::disabled());
    let asked = Client::from_conf(without_credentials.build())
        .get_caller_identity()
        .send()
        .await;
    assert_eq!(asked.err().map(|error| error.classify()), Some(Permanent));
}

#[tokio::test]
async fn it_is_retried() {
    #[retry(max = 3, base = "1ms", cap = "2ms", timeout = "2s")]
    async fn account(client: &Client) -> Result<String, SdkError<GetCallerIdentityError>> {
        Ok(client
            .get_caller_identity()
            .send()
            .await?
            .account
            .unwrap_or_default())
    }

    let reset = ConnectorError::io(Box::new(io::Error::from(io::ErrorKind::ConnectionReset)));
    let client = client([answer(500, &[], ""), Err(reset), answer(200, &[], FINE)]);
    assert_eq!(account(&client).await.unwrap(), "7");
}
