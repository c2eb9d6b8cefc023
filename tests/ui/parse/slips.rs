use reattempt::{Policy, retry, retry_block};

const POLICY: Policy = Policy::new().max(4);

#[derive(Debug)]
enum Fault {
    Busy,
    Closed,
}

struct Client;

macro_rules! functions {
    ($([$($keys:tt)*])*) => { $(
        const _: () = {
            #[retry($($keys)*)]
            fn fetch() -> Result<u32, Fault> {
                Ok(1)
            }
        };
    )* };
}

functions! {
    [POLICY]
    [Policy::new().max(5), on(_)]
    [policy(max = 5), on(_)]
    [policy = Some(POLICY), on(_)]
    [policy = POLICY.build(), on(_)]
    [policy = Policy::new().max(5).build(), on(_)]
    [until(Some(_)), on(_)]
    [on = [Fault::Busy, Fault::Closed]]
    [on = (Fault::Busy, Fault::Closed)]
    [on = [std::io::ErrorKind::TimedOut, std::io::ErrorKind::ConnectionReset]]
    [on(Err(Fault::Busy))]
    [on(io::Error)]
    [on(std::io::Error)]
    [on(chain![std::io::Error])]
    [on(None)]
    [on = async |_| true]
    [on(_), on_retry = println!("again")]
    [on(_), on_retry = tracing::info!("again")]
    [on(_), on_retry = |retry, error| ()]
    [on(_), fallback = None]
    [on(_), fallback = Ok(3)]
    [on(_), before_retry = |_| login().await]
    [on_retry = |_| login().await, on(_)]
    [on(_), name = format!("call")]
    [on(_), name = orders::send]
    [on(_), timer = tokio]
    [on(_), backoff = exponential("100ms", 2)]
    [on(_), context = self]
    [on(_), max = 3 && base = "1s"]
    [on(_), max => 3]
    [on(_), max == 3]
    [on(_), retry-after = |_| None]
    [on(_), clone(&order)]
    [on(_), clone(order.id)]
    [on(_), initial = "1s"]
    [exceptions = Fault::Busy]
    [skip]
    [rate_limit = 10]
    [..POLICY]
    [max = 3, ..POLICY]
    [ExponentialBuilder::default().with_max_times(3)]
    [on = is_busy()]
    [on(_), except = Fault::is_busy()]
    [until = is_done(), on(_)]
    [on = !is_busy]
    [on(_), except = !is_busy]
    [until = !is_done, on(_)]
    [on = not(Fault::Closed)]
    [on = matches!(_, Fault::Busy)]
    [until = matches!(_, 3), on(_)]
    [on = Some(|error| true)]
    [on = io::Error]
    [on = chain(std::io::Error)]
    [on(Ok(_))]
    [on("busy")]
    [on = |error, attempt| true]
    [on(_), backoff = |attempt, delay| delay * 2]
    [on(_), before_retry = async { login().await }]
    [on(_), fallback(3)]
    [on(_), retry_after = Duration::from_secs(5)]
    [on(_), retry_after = Duration::SECOND]
    [on(_), map_err = Into::into]
    [on(_), map_err = anyhow::Error::from]
    [on(_), map_err = |error: RetryError<Fault>, attempt| error]
    [on(_), clone("order")]
    [on(_), clone(mut order)]
    [on(_), backoff(delay = "1s", multiplier = 2.0)]
    [on(_), telemetry(retry = "info")]
    [on(_), breaker(window = 20)]
    [on(_), name = fetch]
    [on(_), deadline = "none"]
    [max = 3, max_attempts = 5, on(_)]
    [enabled = false, on(_)]
    [retry_for(Fault::Busy)]
    [no_retry_for(Fault::Closed)]
    [wait_exponential(multiplier = 1, max = 10)]
    [randomize = true]
    [forever = true]
    [take = 4]
    [with_max_delay = "5s"]
    [maxAttempts = 5]
    [fastFirst = true]
    [on = { error.is_timeout() }]
    [except = { error.kind() == ErrorKind::NotFound }]
    [on = fault == Fault::Busy]
    [until = value == 3, on(_)]
    [until = 3 < value, on(_)]
    [until = order.state == State::Done, on(_)]
    [on = 500..=599]
    [on = StatusCode::BAD_GATEWAY]
    [retry_after = error.retry_after(), on(_)]
    [on(_), before_retry = tokio::time::sleep(PAUSE)]
    [on(_), before_retry = login().await]
    [on(_), codes = [500, 502]]
    [on(_), codes = Statuses::STANDARD]
    [on(_), base = SECOND / 2]
    [on(_), deadline = SECOND + SECOND]
    [on(_), base = SECOND - Duration::from_millis(1)]
    [on = [std::io::Error, std::fmt::Error]]
    [max = 3; on(_); base = "1s"]
    [on(_), context = attempt: Attempt]
    [on(_), backoff = reattempt::Backoff::Exponential { base: 1 }]
    [on(_), backoff = |attempt: usize| Duration::from_millis(attempt)]
    ["max = 3, base = 1s"]
    [on(_), jitter = "20%"]
    [codes = { 503: "transient" }]
}

impl Client {
    #[retry(on(_), before_retry = self.refresh())]
    fn fetch(&self) -> Result<u32, Fault> {
        Ok(1)
    }

    fn refresh(&self) {}

    #[retry(idempotent = false, on(_), verify = self.find())]
    fn charge(&self) -> Result<u32, Fault> {
        Ok(1)
    }

    #[retry(on(_), context = order)]
    fn order(&self, order: u32) -> Result<u32, Fault> {
        Ok(order)
    }
}

async fn block() {
    let _ = retry_block!(on(_), {
        std::future::ready(()).await;
        Ok::<u32, Fault>(1)
    });
}

fn main() {}
