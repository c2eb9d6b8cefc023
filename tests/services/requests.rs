//! Retried functions that send requests: the delay that the service asks for, what is not sent
//! twice, and the key that makes it safe to.

use std::time::Duration;

use reattempt::http::{CheckStatus as _, FollowsRedirects as _, IDEMPOTENCY_KEY, Statuses};
use reattempt::{Classify as _, GiveUpReason, RetryError, Verdict, retry};
use reqwest::{Client, Response, StatusCode};

use crate::script::{Act, BUSY, FINE, SLOW_DOWN, Script, nobody};
use crate::support::Notes;

type Failure = reattempt::http::RequestError<reqwest::Error, Response>;

const SECOND: Duration = Duration::from_secs(1);

fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

#[retry(max = 5, timer = notes)]
async fn get(client: &Client, url: &str, notes: &Notes) -> Result<String, RetryError<Failure>> {
    let response = client.get(url).send().await?.check_status()?;
    Ok(response.text().await?)
}

#[tokio::test]
async fn no_error_needs_a_word() {
    let service = Script::start(&[SLOW_DOWN, BUSY, Act::Reset(""), Act::Answer(""), FINE]).await;
    let notes = Notes::new();
    let answer = get(&client(), &service.url(), &notes).await.unwrap();
    assert_eq!((answer.as_str(), service.requests().len()), ("hello", 5));

    let delays = notes.delays();
    assert!(
        delays[0] >= SECOND && delays[0] <= SECOND.mul_f64(1.1),
        "{delays:?}"
    );
    assert!(delays[1] <= Duration::from_millis(200), "{delays:?}");
}

#[tokio::test]
async fn the_last_error_keeps_the_response() {
    let service = Script::start(&[SLOW_DOWN]).await;
    let failed = get(&client(), &service.url(), &Notes::new())
        .await
        .unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Attempts, 5)
    );
    let Some(Failure::Status(bad)) = failed.into_last() else {
        panic!("no response");
    };
    assert_eq!(
        bad.to_string(),
        "the service answered 429 Too Many Requests"
    );
    let response = bad.into_response();
    assert_eq!(response.headers()["retry-after"], "1");
    assert_eq!(response.text().await.unwrap(), "slow down");
}

#[tokio::test]
async fn what_is_final_is_asked_once() {
    for act in [Act::Status("404 Not Found"), Act::Answer("hello?\r\n\r\n")] {
        let service = Script::start(&[act]).await;
        let failed = get(&client(), &service.url(), &Notes::new())
            .await
            .unwrap_err();
        assert_eq!(
            (failed.reason(), failed.attempts()),
            (GiveUpReason::Permanent, 1)
        );
    }
    let forbids = Act::Status("503 Service Unavailable\r\nretry-after: -1");
    let service = Script::start(&[forbids]).await;
    let failed = get(&client(), &service.url(), &Notes::new())
        .await
        .unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::RetryForbidden, 1)
    );
}

#[tokio::test]
async fn a_delay_above_patience_ends_the_call() {
    let asks = Act::Status("429 Too Many Requests\r\nretry-after: 61");
    let service = Script::start(&[asks]).await;
    let failed = get(&client(), &service.url(), &Notes::new())
        .await
        .unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::RetryAfterTooLong, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_second_is_waited_for() {
    #[retry(max = 2)]
    async fn get(client: &Client, url: &str) -> Result<Response, Failure> {
        Ok(client.get(url).send().await?.check_status()?)
    }
    let service = Script::start(&[SLOW_DOWN, FINE]).await;
    let start = tokio::time::Instant::now();
    let response = get(&client(), &service.url()).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert!(start.elapsed() >= SECOND);
}

#[retry(max = 3, idempotent = false, timer = notes)]
async fn post(client: &Client, url: &str, notes: &Notes) -> Result<Response, RetryError<Failure>> {
    Ok(client.post(url).send().await?.check_status()?)
}

#[tokio::test]
async fn what_may_have_been_executed_is_not_sent_twice() {
    let table = [
        (Act::Status("500 Internal Server Error"), 1),
        (Act::Status("502 Bad Gateway"), 1),
        (BUSY, 1),
        (Act::Status("503 Service Unavailable\r\nretry-after: 1"), 1),
        (Act::Status("504 Gateway Timeout"), 1),
        (Act::Status("408 Request Timeout"), 1),
        (Act::Reset(""), 1),
        (Act::Answer(""), 1),
        (Act::Status("404 Not Found"), 1),
        // Certainly not executed.
        (SLOW_DOWN, 3),
        (Act::Status("425 Too Early"), 3),
    ];
    for (act, expected) in table {
        let service = Script::start(&[act]).await;
        let failed = post(&client(), &service.url(), &Notes::new())
            .await
            .unwrap_err();
        assert_eq!(failed.attempts(), expected, "{act:?}");
        assert_eq!(service.requests().len(), expected as usize, "{act:?}");
    }
    // It may be the address of a redirect, unless the code says that the client follows none.
    let failed = post(&client(), &nobody(), &Notes::new()).await.unwrap_err();
    assert_eq!(failed.attempts(), 1);
    let failed = post_without_redirects(&client(), &nobody(), &Notes::new()).await;
    assert_eq!(failed.unwrap_err().attempts(), 3);
}

#[retry(
    max = 3,
    idempotent = false,
    timer = notes,
    on = |error: &Failure| error.classify_unredirected()
)]
async fn post_without_redirects(
    client: &Client,
    url: &str,
    notes: &Notes,
) -> Result<Response, RetryError<Failure>> {
    Ok(client.post(url).send().await?.check_status()?)
}

#[tokio::test]
async fn every_attempt_of_a_call_has_the_same_key() {
    #[retry(max = 3, base = "1ms", context = attempt)]
    async fn pay(client: &Client, url: &str) -> Result<Response, Failure> {
        let key = attempt.idempotency_key();
        let request = client.post(url).header(IDEMPOTENCY_KEY, key);
        Ok(request.send().await?.check_status()?)
    }
    let service = Script::start(&[BUSY, Act::Reset(""), FINE]).await;
    pay(&client(), &service.url()).await.unwrap();
    pay(&client(), &service.url()).await.unwrap();

    let requests = service.requests();
    let keys: Vec<&str> = requests.iter().map(|request| key(request)).collect();
    assert_eq!(keys.len(), 4);
    assert!(
        keys[0].len() == 32 && keys[0] == keys[1] && keys[1] == keys[2],
        "{keys:?}"
    );
    assert_ne!(keys[2], keys[3]);
}

fn key(request: &str) -> &str {
    let mut lines = request.lines();
    lines
        .find_map(|line| line.strip_prefix("idempotency-key: "))
        .unwrap()
}

#[tokio::test]
async fn an_operation_has_a_table_of_its_own() {
    const SEARCH: Statuses = Statuses::STANDARD.transient(404).permanent(503);

    #[retry(max = 3, base = "1ms", on = |error| SEARCH.judge(error))]
    async fn search(client: &Client, url: &str) -> Result<Response, Failure> {
        Ok(client.get(url).send().await?.check_status()?)
    }
    #[retry(max = 3, base = "1ms", on = |error| SEARCH.judge(error))]
    async fn bare(client: &Client, url: &str) -> reqwest::Result<Response> {
        client.get(url).send().await?.error_for_status()
    }
    for (act, expected) in [
        (Act::Status("404 Not Found"), 3),
        (BUSY, 1),
        (Act::Reset(""), 3),
    ] {
        let service = Script::start(&[act]).await;
        assert!(search(&client(), &service.url()).await.is_err());
        assert_eq!(service.requests().len(), expected, "{act:?}");
        assert!(bare(&client(), &service.url()).await.is_err());
        assert_eq!(service.requests().len(), 2 * expected, "{act:?}");
    }
}

#[tokio::test]
async fn the_own_error_of_reqwest_has_a_verdict() {
    let service = Script::start(&[SLOW_DOWN]).await;
    let response = client().get(service.url()).send().await.unwrap();
    let error = response.error_for_status().unwrap_err();
    // Its headers are lost.
    assert_eq!(error.classify(), Verdict::Throttled(None));
    let error = client().get("no address").send().await.unwrap_err();
    assert_eq!(error.classify(), Verdict::Permanent);
}

#[tokio::test]
async fn a_client_that_blocks() {
    use reqwest::blocking;

    type Failure = reattempt::http::RequestError<reqwest::Error, blocking::Response>;

    #[retry(max = 4, base = "1ms", max_retry_after = "1s")]
    fn get(client: &blocking::Client, url: &str) -> Result<String, RetryError<Failure>> {
        Ok(client.get(url).send()?.check_status()?.text()?)
    }
    let service = Script::start(&[BUSY, Act::Reset(""), FINE]).await;
    let url = service.url();
    let blocked = tokio::task::spawn_blocking(move || {
        let client = blocking::Client::builder().no_proxy().build().unwrap();
        get(&client, &url)
    });
    assert_eq!(blocked.await.unwrap().unwrap(), "hello");
    assert_eq!(service.requests().len(), 3);

    let asks = Act::Answer("HTTP/1.1 429 Busy\r\nretry-after: 2\r\ncontent-length: 4\r\n\r\nlate");
    let service = Script::start(&[asks]).await;
    let url = service.url();
    let blocked = tokio::task::spawn_blocking(move || {
        let client = blocking::Client::builder().no_proxy().build().unwrap();
        let failed = get(&client, &url).unwrap_err();
        let reason = failed.reason();
        match failed.into_last() {
            Some(Failure::Status(bad)) => (reason, bad.into_response().text().unwrap()),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(
        blocked.await.unwrap(),
        (GiveUpReason::RetryAfterTooLong, "late".to_owned())
    );
}
