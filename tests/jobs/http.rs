//! Requests by reqwest: get, get with a time-out, post once, budget and breaker for each host, a token, a cache.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::any;
use reattempt::http::{CheckStatus, RequestError};
use reattempt::{
    Breaker, Budget, Classify, GaveUp, GiveUpReason, Keyed, RetryError, Verdict, retry,
};
use reqwest::{Client, Response};

type Failure = RequestError<reqwest::Error, Response>;

/// Answers by script; after its end it hangs.
pub(crate) struct Site {
    pub(crate) url: String,
    left: Arc<Mutex<VecDeque<u16>>>,
}

impl Site {
    pub(crate) async fn start(script: impl IntoIterator<Item = u16>) -> Self {
        let left = Arc::new(Mutex::new(script.into_iter().collect::<VecDeque<_>>()));
        let answers = Arc::clone(&left);
        let app = Router::new().route(
            "/",
            any(async move || {
                let next = answers.lock().unwrap().pop_front();
                match next {
                    Some(status) => StatusCode::from_u16(status).unwrap(),
                    None => std::future::pending().await,
                }
            }),
        );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async { axum::serve(listener, app).await });
        Self { url, left }
    }

    fn left(&self) -> usize {
        self.left.lock().unwrap().len()
    }
}

#[retry(max = 5)]
async fn get(web: &Client, url: &str) -> Result<Response, Failure> {
    Ok(web.get(url).send().await?.check_status()?)
}

#[tokio::test(start_paused = true)]
async fn get_is_retried() {
    let site = Site::start([503, 429, 200]).await;
    let answer = get(&Client::new(), &site.url).await.unwrap();
    assert_eq!((answer.status().as_u16(), site.left()), (200, 0));

    let site = Site::start([404, 200]).await;
    assert!(get(&Client::new(), &site.url).await.is_err());
    assert_eq!(site.left(), 1);
}

#[retry(max = 5, timeout = "1s", deadline = "1m", breaker = &BREAKER)]
async fn get_in_time(web: &Client, url: &str) -> Result<Response, Failure> {
    Ok(web.get(url).send().await?.check_status()?)
}

static BREAKER: Breaker = Breaker::count_window(100);

#[derive(Debug)]
enum PageError {
    Http(reqwest::Error),
    NoAnswer(GaveUp),
}

impl From<RetryError<reqwest::Error>> for PageError {
    fn from(error: RetryError<reqwest::Error>) -> Self {
        let end = error.end();
        error.into_last().map_or(Self::NoAnswer(end), Self::Http)
    }
}

#[retry(max = 2, timeout = "1s", map_err = PageError::from)]
async fn page_in_time(web: &Client, url: &str) -> Result<String, PageError> {
    web.get(url).send().await?.error_for_status()?.text().await
}

#[tokio::test(start_paused = true)]
async fn get_with_a_time_out() {
    let web = Client::new();
    let site = Site::start([]).await;
    let ended = get_in_time(&web, &site.url).await.unwrap_err();
    assert!(ended.is_timeout());
    let end = ended.end().unwrap();
    assert_eq!((end.reason(), end.attempts()), (GiveUpReason::Attempts, 5));

    let site = Site::start([503; 5]).await;
    let ended = get_in_time(&web, &site.url).await.unwrap_err();
    assert!(!ended.is_timeout() && ended.end().is_none());
    assert!(matches!(ended, Failure::Status(bad) if bad.headers().unwrap().contains_key("date")));

    let ended = page_in_time(&web, &site.url).await.unwrap_err();
    assert!(matches!(ended, PageError::NoAnswer(end) if end.is_timeout() && end.attempts() == 2));
    let ended = page_in_time(&web, "http://").await.unwrap_err();
    assert!(matches!(ended, PageError::Http(error) if error.is_builder()));
}

/// `?` takes the end of another call apart.
#[retry(max = 2)]
async fn page(web: &Client, url: &str) -> Result<String, Failure> {
    #[retry(max = 2, timeout = "1s")]
    async fn get(web: &Client, url: &str) -> Result<Response, RetryError<Failure>> {
        Ok(web.get(url).send().await?.check_status()?)
    }
    Ok(get(web, url).await?.text().await?)
}

#[tokio::test(start_paused = true)]
async fn a_call_in_a_call() {
    let ended = page(&Client::new(), &Site::start([]).await.url).await;
    assert!(ended.unwrap_err().is_timeout());
    let ended = page(&Client::new(), &Site::start([404]).await.url).await;
    assert!(matches!(ended.unwrap_err(), Failure::Status(_)));
}

/// One variant takes all that becomes of requests.
#[derive(Debug, Classify)]
enum ShopError {
    #[retry(from)]
    Shop(RequestError<reqwest::Error, Response>),
    #[retry(permanent)]
    SoldOut,
}

#[retry(max = 2, timeout = "1s", deadline = "1m", breaker = &BREAKER)]
async fn stock(web: &Client, url: &str) -> Result<String, ShopError> {
    match get(web, url).await?.text().await?.as_str() {
        "0" => Err(ShopError::SoldOut),
        _ => Ok(web.get(url).send().await?.check_status()?.text().await?),
    }
}

/// Behind an alias, beside thiserror's attribute, and with a variant of its own for the end.
#[derive(Debug, thiserror::Error, Classify)]
enum BankError {
    #[error("the bank: {0}")]
    #[retry(from = RequestError<reqwest::Error, Response>)]
    Bank(#[from] Failure),
    #[error(transparent)]
    #[retry(inherit)]
    GaveUp(#[from] GaveUp),
    #[error("another client: {client}")]
    #[retry(from)]
    Other {
        client: RequestError<std::io::Error, axum::http::Response<()>>,
    },
}

#[retry(max = 2, timeout = "1s")]
async fn balance(web: &Client, url: &str) -> Result<String, BankError> {
    let answer = get(web, url).await?.text().await?;
    let text = web.get(url).send().await?.check_status()?.text().await?;
    Ok(format!("{text}{answer}"))
}

#[tokio::test(start_paused = true)]
async fn an_error_made_of_requests() {
    let web = Client::new();
    let hangs = Site::start([]).await.url;
    let ended = stock(&web, &hangs).await.unwrap_err();
    assert!(
        matches!(&ended, ShopError::Shop(of) if of.is_timeout()),
        "{ended:?}"
    );
    let ended = stock(&web, "http://").await.unwrap_err();
    assert!(matches!(ended, ShopError::Shop(Failure::Transport(_))));
    let ended = stock(&web, &Site::start([200, 404]).await.url)
        .await
        .unwrap_err();
    assert!(matches!(&ended, ShopError::Shop(Failure::Status(_))));
    assert_eq!(ended.classify(), Verdict::Permanent);
    let answered = Site::start([200, 503, 200, 200]).await;
    assert!(stock(&web, &answered.url).await.is_ok());
    assert_eq!(
        (answered.left(), ShopError::SoldOut.classify()),
        (0, Verdict::Permanent)
    );

    let ended = balance(&web, &hangs).await.unwrap_err();
    assert!(matches!(ended, BankError::GaveUp(end) if end.is_timeout()));
    let ended = balance(&web, &Site::start([404]).await.url)
        .await
        .unwrap_err();
    assert!(matches!(ended, BankError::Bank(Failure::Status(_))));
    let other = BankError::from(std::io::Error::from(std::io::ErrorKind::TimedOut));
    assert!(matches!(other, BankError::Other { .. }));
    assert_eq!(other.classify(), Verdict::Transient);
}

#[retry(max = 5, idempotent = false)]
async fn order(web: &Client, url: &str) -> Result<Response, Failure> {
    Ok(web.post(url).body("tea").send().await?.check_status()?)
}

#[tokio::test(start_paused = true)]
async fn post_is_not_sent_twice() {
    let site = Site::start([503, 200]).await;
    assert!(order(&Client::new(), &site.url).await.is_err());
    assert_eq!(site.left(), 1);

    let site = Site::start([429, 200]).await; // turned away: nothing ran
    assert!(order(&Client::new(), &site.url).await.is_ok());
    assert_eq!(site.left(), 0);
}

static BUDGETS: Keyed<String, Budget> =
    Keyed::new(|_: &String| Budget::per_success(0.1).floor(0.0).initial(1));
static BREAKERS: Keyed<String, Breaker> = Keyed::new(|_: &String| Breaker::count_window(4));

#[retry(max = 3, budget = BUDGETS.get(host), breaker = BREAKERS.get(host))]
async fn fetch(web: &Client, host: &str) -> Result<Response, RetryError<Failure>> {
    Ok(web.get(host).send().await?.check_status()?)
}

#[tokio::test(start_paused = true)]
async fn budget_and_breaker_of_each_host() {
    let web = Client::new();
    let (bad, good) = (Site::start([503; 9]).await, Site::start([503, 200]).await);

    let ended = fetch(&web, &bad.url).await.unwrap_err();
    assert_eq!(
        (ended.reason(), ended.attempts()),
        (GiveUpReason::Budget, 2)
    );
    let reasons = [
        fetch(&web, &bad.url).await.unwrap_err().reason(),
        fetch(&web, &bad.url).await.unwrap_err().reason(),
        fetch(&web, &bad.url).await.unwrap_err().reason(),
    ];
    let open = GiveUpReason::BreakerOpen;
    assert_eq!(
        (reasons, bad.left()),
        ([GiveUpReason::Budget, open, open], 5)
    );

    assert!(fetch(&web, &good.url).await.is_ok());
}

struct Account {
    web: Client,
    token: u32,
}

impl Account {
    #[retry(
        on = |error| match error {
            RequestError::Status(bad) if bad.status() == StatusCode::UNAUTHORIZED => Verdict::Refused,
            other => other.classify(),
        },
        before_retry = async |_| self.refresh().await,
    )]
    async fn get(&mut self, url: &str) -> Result<Response, Failure> {
        let request = self.web.get(url).bearer_auth(self.token);
        Ok(request.send().await?.check_status()?)
    }

    async fn refresh(&mut self) {
        tokio::task::yield_now().await;
        self.token += 1;
    }
}

#[tokio::test(start_paused = true)]
async fn token_that_expires() {
    let site = Site::start([401, 200]).await;
    let web = Client::new();
    let mut account = Account { web, token: 1 };
    assert!(account.get(&site.url).await.is_ok());
    assert_eq!((account.token, site.left()), (2, 0));
}

struct Rates {
    web: Client,
    last: Mutex<Option<StatusCode>>,
}

impl Rates {
    #[retry(max = 2, timeout = "1s", fallback = |error| self.last.lock().unwrap().ok_or(error))]
    async fn rate(&self, url: &str) -> Result<StatusCode, Failure> {
        let rate = self.web.get(url).send().await?.check_status()?.status();
        *self.last.lock().unwrap() = Some(rate);
        Ok(rate)
    }
}

#[tokio::test(start_paused = true)]
async fn older_answer_of_a_cache() {
    let site = Site::start([503, 503, 200, 503, 503]).await;
    let (web, last) = (Client::new(), Mutex::new(None));
    let rates = Rates { web, last };
    assert!(rates.rate(&site.url).await.is_err());
    assert_eq!(rates.rate(&site.url).await.unwrap(), StatusCode::OK);
    assert_eq!(rates.rate(&site.url).await.unwrap(), StatusCode::OK);
    assert_eq!(site.left(), 0);
}
