//! Every limit on every asynchronous driver, around an attempt that hangs: no call does, unless it says `cut_off = false`.

use std::future::{Future, pending};
use std::io;
use std::time::Duration;

use async_trait::async_trait;
use reattempt::config::Config;
use reattempt::http::RetryMiddleware;
use reattempt::tower::RetryLayer;
use reattempt::{
    Breaker, GiveUpReason, Policy, RetryError, Throttle, Verdict, deadline, retry, retry_block,
};
use reqwest_middleware::{ClientBuilder, Middleware, Next};
use tokio::time::Instant;
use tower::{Layer as _, ServiceExt as _};

use crate::support::SECOND;

/// Two attempts of a second each, and a delay of a second.
const TIMEOUT: Policy = Policy::new()
    .max(2)
    .base(SECOND)
    .jitter(reattempt::Jitter::None)
    .timeout(SECOND);
/// One attempt of a second.
const DEADLINE: Policy = Policy::new()
    .deadline(SECOND)
    .base(Duration::from_millis(1));

/// How long a call took that ended.
async fn ends<R>(what: &str, call: impl Future<Output = R>) -> (R, Duration) {
    let start = Instant::now();
    let day = Duration::from_secs(24 * 3600);
    let Ok(answer) = tokio::time::timeout(day, call).await else {
        panic!("{what} hangs")
    };
    (answer, start.elapsed())
}

/// What a call says that ended without an answer.
trait Said {
    /// The reason, where the error has it.
    fn reason(self) -> Option<GiveUpReason>;
}

impl Said for io::Result<u8> {
    fn reason(self) -> Option<GiveUpReason> {
        let error = self.unwrap_err();
        let end = error.get_ref().unwrap();
        Some(end.downcast_ref::<reattempt::GaveUp>().unwrap().reason())
    }
}

impl<E: std::fmt::Debug> Said for Result<u8, RetryError<E>> {
    fn reason(self) -> Option<GiveUpReason> {
        Some(self.unwrap_err().reason())
    }
}

impl Said for Result<u8, GiveUpReason> {
    fn reason(self) -> Option<GiveUpReason> {
        Some(self.unwrap_err())
    }
}

impl Said for Option<u8> {
    fn reason(self) -> Option<GiveUpReason> {
        assert_eq!(self, None);
        None
    }
}

/// Of a fallback.
impl Said for Result<u8, String> {
    fn reason(self) -> Option<GiveUpReason> {
        assert_eq!(self, Ok(7));
        None
    }
}

/// A function and a block with these keys for each answer that can say that the call was cut off, and their calls.
macro_rules! drivers {
    ($name:ident($($parameter:ident: $type:ty),*) $($keys:tt)*) => {
        mod $name {
            use super::*;

            #[retry($($keys)*, on(_))]
            async fn from_gave_up($($parameter: $type),*) -> io::Result<u8> {
                pending().await
            }

            #[retry($($keys)*, on(_))]
            pub(super) async fn retry_error($($parameter: $type),*) -> Result<u8, RetryError<String>> {
                pending().await
            }

            #[retry($($keys)*)]
            async fn option($($parameter: $type),*) -> Option<u8> {
                pending().await
            }

            #[retry($($keys)*, on(_), map_err = |error: RetryError<String>| error.reason())]
            async fn map_err($($parameter: $type),*) -> Result<u8, GiveUpReason> {
                pending::<Result<u8, String>>().await
            }

            #[retry($($keys)*, on(_), fallback = |_| 7)]
            async fn fallback($($parameter: $type),*) -> Result<u8, String> {
                pending().await
            }

            #[retry($($keys)*, on(_), until = |value| *value > 0, before_retry = async |_| ())]
            async fn polled($($parameter: $type),*) -> io::Result<u8> {
                pending().await
            }

            #[retry($($keys)*, on(_), hedge = "10ms")]
            async fn hedged($($parameter: $type),*) -> io::Result<u8> {
                pending().await
            }

            async fn block($($parameter: $type),*) -> io::Result<u8> {
                retry_block!($($keys)*, on(_), async || -> io::Result<u8> { pending().await }).await
            }

            async fn untyped_block($($parameter: $type),*) -> io::Result<u8> {
                retry_block!($($keys)*, on(_), async { pending::<io::Result<u8>>().await }).await
            }

            async fn fallback_block($($parameter: $type),*) -> Result<u8, String> {
                retry_block!($($keys)*, on(_), fallback = |_| 7, async || -> Result<u8, String> {
                    pending().await
                })
                .await
            }

            /// Each of them ends after `time`, for `reason` where it says one.
            pub(super) async fn all_end(
                time: Duration, expected: GiveUpReason $(, $parameter: $type)*
            ) {
                macro_rules! ends {
                    ($driver:ident) => {{
                        let what = concat!(stringify!($name), ", ", stringify!($driver));
                        let (answer, took) = ends(what, $driver($($parameter),*)).await;
                        assert_eq!(took, time, "{what}");
                        assert!(answer.reason().is_none_or(|reason| reason == expected), "{what}");
                    }};
                }
                ends!(from_gave_up);
                ends!(retry_error);
                ends!(option);
                ends!(map_err);
                ends!(fallback);
                ends!(polled);
                ends!(hedged);
                ends!(block);
                ends!(untyped_block);
                ends!(fallback_block);
            }
        }
    };
}

drivers!(own_timeout() max = 2, base = "1s", jitter = "none", timeout = "1s");
drivers!(own_deadline() base = "1ms", deadline = "1s");
drivers!(timeout_of_a_constant() policy = TIMEOUT);
drivers!(deadline_of_a_constant() policy = DEADLINE);
drivers!(at_run_time(policy: Policy) policy = policy);
drivers!(by_name() policy = "hangs", base = "1ms");
drivers!(breaker() breaker = &OPEN);
drivers!(throttle() throttle = &FULL, deadline = "100ms", base = "1ms");

static OPEN: Breaker = Breaker::count_window(100);
/// Without a token.
static FULL: Throttle = Throttle::cubic();

#[tokio::test(start_paused = true)]
async fn limits_of_keys_and_constants() {
    own_timeout::all_end(3 * SECOND, GiveUpReason::Attempts).await;
    own_deadline::all_end(SECOND, GiveUpReason::Deadline).await;
    timeout_of_a_constant::all_end(3 * SECOND, GiveUpReason::Attempts).await;
    deadline_of_a_constant::all_end(SECOND, GiveUpReason::Deadline).await;
}

#[tokio::test(start_paused = true)]
async fn limits_that_the_running_program_knows() {
    at_run_time::all_end(3 * SECOND, GiveUpReason::Attempts, TIMEOUT).await;
    at_run_time::all_end(SECOND, GiveUpReason::Deadline, DEADLINE).await;
    // A call with a limit of its own has what is left of the deadline around it.
    let limited = Policy::new().deadline(9 * SECOND);
    let answer = deadline::within(SECOND, async {
        ends("a call", at_run_time::retry_error(limited)).await
    });
    let (answer, took) = answer.await;
    assert_eq!(
        (answer.reason(), took),
        (Some(GiveUpReason::Deadline), SECOND)
    );
}

#[tokio::test(start_paused = true)]
async fn limits_of_a_file() {
    let install = |text: &str| Config::from_toml(text).unwrap().install().unwrap();
    let timeout = "max = 2\nbase = \"1s\"\njitter = \"none\"\ntimeout = \"1s\"\n";
    install(&format!("[policies.hangs]\n{timeout}"));
    by_name::all_end(3 * SECOND, GiveUpReason::Attempts).await;
    install("[policies.hangs]\ndeadline = \"1s\"\n");
    by_name::all_end(SECOND, GiveUpReason::Deadline).await;
}

#[tokio::test(start_paused = true)]
async fn gates_that_turn_calls_away() {
    OPEN.force_open();
    breaker::all_end(Duration::ZERO, GiveUpReason::BreakerOpen).await;
    for _ in 0..10 {
        if let Ok(permit) = FULL.permit() {
            permit.failed(Verdict::Throttled(None));
        }
    }
    // Its turn would come after the deadline.
    throttle::all_end(Duration::ZERO, GiveUpReason::Deadline).await;
}

/// The policy is a field of what the attempts borrow.
#[tokio::test(start_paused = true)]
async fn a_method_under_the_policy_of_its_client() {
    struct Client {
        policy: Policy,
        calls: u32,
    }

    impl Client {
        #[retry(policy = self.policy, on(_))]
        async fn fetch(&mut self) -> io::Result<u8> {
            self.calls += 1;
            pending().await
        }
    }

    let policy = TIMEOUT
        .timeout(Duration::from_millis(10))
        .base(Duration::from_millis(1));
    let mut client = Client { policy, calls: 0 };
    let (answer, _) = ends("a method", client.fetch()).await;
    assert_eq!(answer.reason(), Some(GiveUpReason::Attempts));
    assert_eq!(client.calls, 2);
}

#[tokio::test(start_paused = true)]
async fn runners() {
    for (policy, time, expected) in [
        (TIMEOUT, 3 * SECOND, GiveUpReason::Attempts),
        (DEADLINE, SECOND, GiveUpReason::Deadline),
    ] {
        let hang = pending::<io::Result<u8>>;
        let (answer, took) = ends("run_async", policy.run_async(hang)).await;
        assert_eq!((answer.reason(), took), (Some(expected), time));
        let call = policy.runner().try_run_async(hang);
        let (answer, took) = ends("try_run_async", call).await;
        assert_eq!((answer.reason(), took), (Some(expected), time));
    }
    OPEN.force_open();
    let policy = Policy::new();
    let hang = pending::<io::Result<u8>>;
    let (answer, took) = ends("run_async", policy.runner().breaker(&OPEN).run_async(hang)).await;
    assert_eq!(
        (answer.reason(), took),
        (Some(GiveUpReason::BreakerOpen), Duration::ZERO)
    );
    let call = policy.runner().breaker(&OPEN).try_run_async(hang);
    let (answer, took) = ends("try_run_async", call).await;
    assert_eq!(
        (answer.reason(), took),
        (Some(GiveUpReason::BreakerOpen), Duration::ZERO)
    );
}

/// Sends nothing, and never answers.
struct Hanging;

#[async_trait]
impl Middleware for Hanging {
    async fn handle(
        &self,
        _: reqwest::Request,
        _: &mut http::Extensions,
        _: Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        pending().await
    }
}

/// What reqwest-middleware gives back, of which its caller finds the end inside.
fn end(answer: reqwest_middleware::Result<reqwest::Response>) -> (GiveUpReason, u32, bool) {
    let Err(reqwest_middleware::Error::Middleware(error)) = answer else {
        panic!("an answer: {answer:?}")
    };
    let end = error.downcast_ref::<reattempt::GaveUp>().unwrap();
    (end.reason(), end.attempts(), end.is_timeout())
}

#[tokio::test(start_paused = true)]
async fn middleware() {
    let client = |policy| {
        ClientBuilder::new(reqwest::Client::builder().no_proxy().build().unwrap())
            .with(RetryMiddleware::new(policy))
            .with(Hanging)
            .build()
    };
    let get = async |policy: Policy| {
        let request = client(policy).get("http://localhost/").send();
        let (answer, took) = ends("the middleware", request).await;
        (end(answer), took)
    };
    let attempts = (GiveUpReason::Attempts, 2, true);
    let deadline = (GiveUpReason::Deadline, 1, true);
    assert_eq!(get(TIMEOUT).await, (attempts, 3 * SECOND));
    assert_eq!(get(DEADLINE).await, (deadline, SECOND));
    let limited = Policy::new().deadline(9 * SECOND);
    let above = deadline::within(SECOND, get(limited));
    assert_eq!(above.await, (deadline, SECOND));

    // The policy of one request, of which the client knows nothing.
    let client = client(Policy::new());
    let request = client.get("http://localhost/").with_extension(TIMEOUT);
    let (answer, took) = ends("a request", request.send()).await;
    assert_eq!((end(answer), took), (attempts, 3 * SECOND));

    // What may have been executed is not sent again.
    let request = client.post("http://localhost/").with_extension(TIMEOUT);
    let (answer, took) = ends("a post", request.send()).await;
    assert_eq!(
        (end(answer), took),
        ((GiveUpReason::NotIdempotent, 1, true), SECOND)
    );
}

/// The error of a service cannot be made by a layer, which refuses what it could not keep.
#[test]
#[should_panic(expected = "give the client a time-out")]
fn a_layer_refuses_a_timeout() {
    let _ = RetryLayer::new(TIMEOUT).on_answer(|_: &Result<(), String>| Verdict::Transient);
}

/// The layer cancels where the error of the service can say that, and the user has asked for it.
#[tokio::test(start_paused = true)]
async fn a_layer_that_cuts_off() {
    type Answer = io::Result<u8>;

    let hanging = || tower::service_fn(|(): ()| pending::<Answer>());
    let layer = || RetryLayer::new(DEADLINE.max(5));
    let cut_off = async || {
        let call = layer().cut_off().layer(hanging()).oneshot(());
        let (answer, took) = ends("a layer", call).await;
        (answer.reason(), took)
    };
    let end = (Some(GiveUpReason::Deadline), SECOND);
    assert_eq!(cut_off().await, end);
    // An inherited deadline that comes first.
    let half = SECOND / 2;
    let start = Instant::now();
    let above = deadline::within(half, async { Ok::<_, io::Error>(cut_off().await) });
    let above = above.await.map_err(|error| error.to_string());
    assert_eq!((above, start.elapsed()), (Ok((end.0, half)), half));

    // A later attempt, after one that failed.
    let calls = std::cell::Cell::new(0);
    let failing = tower::service_fn(|(): ()| {
        calls.set(calls.get() + 1);
        let fails = calls.get() == 1;
        async move {
            if fails {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            pending::<Answer>().await
        }
    });
    let (answer, took) = ends("a retry", layer().cut_off().layer(failing).oneshot(())).await;
    assert_eq!((answer.reason(), took, calls.get()), (end.0, SECOND, 2));

    // Without a deadline of its own nothing is cut off, and without `cut_off` nothing either.
    let call = RetryLayer::new(Policy::new()).cut_off().layer(hanging());
    assert!(
        tokio::time::timeout(60 * SECOND, call.oneshot(()))
            .await
            .is_err()
    );
    let call = layer().layer(hanging()).oneshot(());
    assert!(tokio::time::timeout(60 * SECOND, call).await.is_err());
}
