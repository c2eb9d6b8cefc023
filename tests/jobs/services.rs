//! Services with ways of their own: a wait in the answer, a version, a flow with steps, several backends.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use reattempt::{
    Breaker, Budget, Classify, GaveUp, GiveUpReason, Keyed, RetryError, Verdict, retry, testing,
};
use tokio::time::Instant;

#[derive(Debug)]
struct ApiError {
    code: u16,
    retry_after: Option<f64>,
}

#[retry(
    on(ApiError { code: 429 | 500.., .. }),
    retry_after = |error| error.retry_after.map(Duration::from_secs_f64),
)]
async fn send(answers: &mut Vec<ApiError>) -> Result<(), RetryError<ApiError>> {
    answers.pop().map_or(Ok(()), Err)
}

#[tokio::test(start_paused = true)]
async fn wait_in_a_field() {
    let busy = |seconds| ApiError {
        code: 429,
        retry_after: Some(seconds),
    };
    let start = Instant::now();
    assert!(send(&mut vec![busy(1.5)]).await.is_ok());
    assert!(start.elapsed() >= Duration::from_millis(1500));
    let ended = send(&mut vec![busy(500.0)]).await.unwrap_err();
    assert_eq!(ended.reason(), GiveUpReason::RetryAfterTooLong);
}

#[derive(Debug, thiserror::Error, Classify)]
enum MailError {
    #[error("the server is busy for {0:?}")]
    #[retry(throttled, after = 0)]
    Busy(Duration),
    #[error("there is no mailbox {0}")]
    #[retry(permanent)]
    NoMailbox(String),
    #[error(transparent)]
    #[retry(inherit)]
    GaveUp(#[from] GaveUp),
}

#[retry(timeout = "2s", deadline = "20s")]
async fn mail(to: &str, busy: &mut Vec<Duration>) -> Result<(), MailError> {
    match (busy.pop(), to) {
        (Some(wait), _) => Err(MailError::Busy(wait)),
        (None, "nobody") => Err(MailError::NoMailbox(to.to_owned())),
        (None, "slow") => std::future::pending().await,
        (None, _) => Ok(()),
    }
}

#[tokio::test(start_paused = true)]
async fn limit_in_an_enum_of_thiserror() {
    let busy = &mut vec![Duration::from_secs(3)];
    assert!(mail("ann", busy).await.is_ok() && busy.is_empty());
    let ended = mail("slow", busy).await;
    assert!(matches!(ended, Err(MailError::GaveUp(end)) if end.is_timeout()));
    let ended = mail("nobody", busy).await;
    assert!(matches!(ended, Err(MailError::NoMailbox(_))));
}

#[derive(Debug)]
enum TokenError {
    Pending,
    SlowDown,
    Denied,
}

struct Device {
    interval: Duration,
    expires_in: Duration,
}

impl Device {
    #[retry(
        max = "unlimited",
        deadline = self.expires_in,
        on = |error| match error {
            TokenError::Denied => Verdict::Permanent,
            TokenError::Pending => Verdict::TransientAfter(self.interval),
            TokenError::SlowDown => {
                self.interval += Duration::from_secs(5);
                Verdict::TransientAfter(self.interval)
            }
        },
    )]
    async fn token(&mut self, answers: &mut Vec<TokenError>) -> Result<(), RetryError<TokenError>> {
        answers.pop().map_or(Ok(()), Err)
    }
}

#[tokio::test(start_paused = true)]
async fn flow_of_a_device() {
    let seconds = Duration::from_secs;
    let (interval, expires_in) = (seconds(5), seconds(900));
    let mut device = Device {
        interval,
        expires_in,
    };
    let start = Instant::now();
    let answers = &mut vec![
        TokenError::Pending,
        TokenError::SlowDown,
        TokenError::Pending,
    ];
    assert!(device.token(answers).await.is_ok());
    assert!((25..=28).contains(&start.elapsed().as_secs())); // 5 + 10 + 10
    let ended = device.token(&mut vec![TokenError::Denied]).await;
    assert_eq!(ended.unwrap_err().attempts(), 1);
}

#[derive(Debug, Classify)]
#[retry(refused)]
struct Conflict;

#[derive(Default)]
struct Object {
    version: u32,
    replicas: u32,
    /// Writes of others, each in the middle of a change.
    others: u32,
}

#[retry(max = 10, base = "5ms", cap = "200ms", idempotent = false)]
fn update(object: &mut Object, mut change: impl FnMut(&mut u32)) -> Result<u32, Conflict> {
    let (version, mut replicas) = (object.version, object.replicas);
    change(&mut replicas);
    if object.others > 0 {
        object.others -= 1;
        object.version += 1;
    }
    if object.version != version {
        return Err(Conflict);
    }
    object.replicas = replicas;
    object.version += 1;
    Ok(object.version)
}

#[test]
fn change_of_a_version() {
    let _time = testing::virtual_time();
    let mut object = Object {
        others: 3,
        ..Object::default()
    };
    assert_eq!(update(&mut object, |replicas| *replicas += 5).unwrap(), 4);
    assert_eq!(object.replicas, 5);
}

trait Repository {
    type Error: Classify;
    async fn find(&self, id: u32) -> Result<String, Self::Error>;
}

struct Files;

impl Repository for Files {
    type Error = io::Error;

    async fn find(&self, _: u32) -> io::Result<String> {
        Err(ErrorKind::TimedOut.into())
    }
}

struct Memory(HashMap<u32, String>);

#[derive(Debug, Classify)]
#[retry(permanent)]
struct Missing;

impl Repository for Memory {
    type Error = Missing;

    async fn find(&self, id: u32) -> Result<String, Missing> {
        self.0.get(&id).cloned().ok_or(Missing)
    }
}

#[retry(timeout = "1s")]
async fn find<R: Repository>(backend: &R, id: u32) -> Result<String, RetryError<R::Error>> {
    backend.find(id).await
}

#[tokio::test(start_paused = true)]
async fn several_backends() {
    let memory = Memory(HashMap::from([(7, "tea".to_owned())]));
    assert_eq!(find(&memory, 7).await.unwrap(), "tea");
    assert_eq!(find(&memory, 8).await.unwrap_err().attempts(), 1);
    assert_eq!(find(&Files, 7).await.unwrap_err().attempts(), 3);
}

/// Of somebody else's crate.
#[async_trait]
trait Storage: Send + Sync {
    async fn get(&self) -> io::Result<Vec<u8>>;
    async fn put(&self, value: Vec<u8>) -> io::Result<()>;
    fn name(&self) -> String;
}

struct Retrying<S>(S);

/// The policy of a method replaces that of the block.
#[retry(max = 4)]
#[async_trait]
impl<S: Storage> Storage for Retrying<S> {
    async fn get(&self) -> io::Result<Vec<u8>> {
        self.0.get().await
    }

    #[retry(max = 4, clone(value))]
    async fn put(&self, value: Vec<u8>) -> io::Result<()> {
        self.0.put(value).await
    }

    fn name(&self) -> String {
        format!("retrying {}", self.0.name())
    }
}

#[derive(Default)]
struct Flaky {
    calls: AtomicU32,
    value: Mutex<Vec<u8>>,
}

impl Flaky {
    /// Three of four calls fail.
    fn check(&self) -> io::Result<()> {
        match self.calls.fetch_add(1, Ordering::Relaxed) % 4 {
            3 => Ok(()),
            _ => Err(ErrorKind::TimedOut.into()),
        }
    }
}

#[async_trait]
impl Storage for Flaky {
    async fn get(&self) -> io::Result<Vec<u8>> {
        self.check()?;
        Ok(self.value.lock().unwrap().clone())
    }

    async fn put(&self, value: Vec<u8>) -> io::Result<()> {
        self.check()?;
        *self.value.lock().unwrap() = value;
        Ok(())
    }

    fn name(&self) -> String {
        "flaky".to_owned()
    }
}

#[tokio::test(start_paused = true)]
async fn trait_of_somebody_else() {
    let storage: Box<dyn Storage> = Box::new(Retrying(Flaky::default()));
    storage.put(vec![7]).await.unwrap();
    assert_eq!(storage.get().await.unwrap(), [7]);
    assert_eq!(storage.name(), "retrying flaky");
}

static BREAKERS: Keyed<u64, Breaker> = Keyed::new(|_: &u64| Breaker::count_window(4));

#[retry(max = 2, breaker = BREAKERS.get(&tenant))]
async fn deliver(tenant: u64, up: bool) -> Result<(), RetryError<io::Error>> {
    if up {
        Ok(())
    } else {
        Err(ErrorKind::ConnectionReset.into())
    }
}

#[tokio::test(start_paused = true)]
async fn breaker_of_each_tenant() {
    assert!(deliver(1, false).await.is_err() && deliver(1, false).await.is_err());
    let ended = deliver(1, true).await.unwrap_err();
    assert_eq!(ended.reason(), GiveUpReason::BreakerOpen);
    assert!(deliver(2, true).await.is_ok());
}

static READS: Budget = Budget::per_success(0.1);

/// The copy asks the other replica.
#[retry(hedge = "30ms", budget = &READS)]
async fn read(next: &AtomicU32) -> io::Result<&'static str> {
    if next.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
        tokio::time::sleep(Duration::from_secs(9)).await;
        Ok("slow")
    } else {
        Ok("quick")
    }
}

#[tokio::test(start_paused = true)]
async fn read_of_two_replicas() {
    let start = Instant::now();
    assert_eq!(read(&AtomicU32::new(0)).await.unwrap(), "quick");
    assert_eq!(start.elapsed(), Duration::from_millis(30));
}
