//! Limits on the results of libraries, as they are: each error can say that its call was given up.

use std::time::Duration;

use reattempt::{Classify, GaveUp, GiveUpReason, Policy, RetryError, Verdict, retry};
use tokio::time::Instant;

macro_rules! hang {
    ($($name:ident -> $answer:ty;)*) => { $(
        #[retry(max = 3, base = "1ms", timeout = "1s")]
        async fn $name() -> $answer {
            std::future::pending().await
        }
    )* };
}

hang! {
    files -> std::io::Result<u8>;
    database -> sqlx::Result<u8>;
    service -> Result<u8, tonic::Status>;
    cache -> redis::RedisResult<u8>;
}

#[retry(max = 3, base = "1ms", timeout = "1s", on(_))]
async fn anything() -> anyhow::Result<u8> {
    std::future::pending().await
}

/// Nobody can make a `reqwest::Error`, so the caller gets another one.
#[derive(Debug)]
enum PageError {
    Http(reqwest::Error),
    GaveUp(GaveUp),
}

impl From<RetryError<reqwest::Error>> for PageError {
    fn from(error: RetryError<reqwest::Error>) -> Self {
        let end = GaveUp::new(error.reason(), error.attempts());
        error.into_last().map_or(Self::GaveUp(end), Self::Http)
    }
}

#[retry(max = 3, base = "1ms", timeout = "1s", map_err = PageError::from)]
async fn page(client: &reqwest::Client, url: &str) -> Result<String, PageError> {
    let response = client.get(url).send().await?;
    response.error_for_status()?.text().await
}

#[tokio::test(start_paused = true)]
async fn an_error_that_cannot_be_made_is_mapped() {
    // Nobody accepts what comes here.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let error = page(&client, &url).await.unwrap_err();
    let PageError::GaveUp(end) = error else {
        panic!("there was no answer: {error:?}")
    };
    assert_eq!((end.reason(), end.attempts()), (GiveUpReason::Attempts, 3));

    let error = page(&client, "http://").await.unwrap_err();
    assert!(matches!(error, PageError::Http(error) if error.is_builder()));
}

#[tokio::test(start_paused = true)]
async fn attempts_are_cut_off() {
    async fn ends<E>(call: impl Future<Output = Result<u8, E>>) -> E {
        let start = Instant::now();
        let error = call.await.expect_err("it hangs");
        assert!(
            start.elapsed() < Duration::from_secs(4),
            "{:?}",
            start.elapsed()
        );
        assert!(start.elapsed() >= Duration::from_secs(3), "three attempts");
        error
    }
    assert_eq!(ends(files()).await.classify(), Verdict::Transient);
    assert_eq!(ends(database()).await.classify(), Verdict::Transient);
    assert_eq!(ends(service()).await.classify(), Verdict::Transient);
    assert_eq!(ends(cache()).await.classify(), Verdict::Transient);
    assert!(ends(anything()).await.is::<GaveUp>());

    let policy = Policy::new()
        .max(3)
        .base(Duration::from_millis(1))
        .timeout(Duration::from_secs(1));
    let error: std::io::Error = ends(policy.run_async(std::future::pending)).await;
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    let end = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<GaveUp>());
    assert_eq!(
        end.map(|end| (end.reason(), end.attempts())),
        Some((GiveUpReason::Attempts, 3))
    );
}
