//! Metrics as Prometheus sees them: scraped over HTTP and read by another crate.

use std::io::{self, ErrorKind};
use std::sync::OnceLock;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use prometheus_parse::{Sample, Scrape, Value};
use reattempt::testing::virtual_time;
use reattempt::{Breaker, Budget, Jitter, Policy, RetryError, retry};

use crate::support::Declined;

/// Delays of 100 ms and 200 ms.
const STEADY: Policy = Policy::new()
    .max(3)
    .base(Duration::from_millis(100))
    .jitter(Jitter::None);

/// The endpoint of this process, on a free port.
fn endpoint() -> &'static str {
    static ENDPOINT: OnceLock<String> = OnceLock::new();
    ENDPOINT.get_or_init(|| {
        let builder = PrometheusBuilder::new();
        let delays = Matcher::Full("retry_delay_seconds".to_owned());
        let builder = builder.set_buckets_for_metric(delays, &[0.1, 1.0]).unwrap();
        let recorder = builder.install_recorder().unwrap();
        reattempt::observe::describe_metrics();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                listener.set_nonblocking(true).unwrap();
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let scrape = axum::routing::get(move || async move { recorder.render() });
                let app = axum::Router::new().route("/metrics", scrape);
                axum::serve(listener, app).await.unwrap();
            });
        });
        format!("http://{address}/metrics")
    })
}

fn scrape() -> Scrape {
    let text = reqwest::blocking::get(endpoint()).unwrap().text().unwrap();
    Scrape::parse(text.lines().map(|line| Ok(line.to_owned()))).unwrap()
}

/// Name, labels and value of every sample with this label.
fn samples(scrape: &Scrape, label: &str, value: &str) -> Vec<String> {
    let ours = |sample: &&Sample| sample.labels.get(label) == Some(value);
    let mut samples: Vec<_> = scrape
        .samples
        .iter()
        .filter(ours)
        .map(|sample| {
            let labels = sample.labels.iter().filter(|(name, _)| *name != label);
            let mut labels: Vec<_> = labels
                .map(|(name, value)| format!(" {name}={value}"))
                .collect();
            labels.sort();
            let labels = labels.concat();
            let value = match &sample.value {
                Value::Counter(value) | Value::Gauge(value) | Value::Untyped(value) => {
                    value.to_string()
                }
                Value::Histogram(buckets) => {
                    let buckets = buckets
                        .iter()
                        .map(|bucket| format!("{}:{}", bucket.less_than, bucket.count));
                    buckets.collect::<Vec<_>>().join(" ")
                }
                Value::Summary(_) => panic!("no summaries"),
            };
            format!("{}{labels} = {value}", sample.metric)
        })
        .collect();
    samples.sort();
    samples
}

#[retry(policy = STEADY, name = "metrics.pay", on(_))]
fn pay(failures: &mut u32) -> Result<(), Declined> {
    if *failures > 0 {
        *failures -= 1;
        return Err(Declined(503));
    }
    Ok(())
}

#[test]
fn calls_attempts_give_ups_and_delays() {
    endpoint();
    let _time = virtual_time();
    // One at once, which is not counted; one with the second attempt; two never.
    for failures in [0, 1, 9, 9] {
        assert_eq!(pay(&mut { failures }).is_err(), failures == 9);
    }
    assert_eq!(
        samples(&scrape(), "operation", "metrics.pay"),
        [
            "retry_attempts_total = 8",
            // Five retries took five of six: the first success and first failures gave some back.
            "retry_budget_balance = 0.01",
            "retry_calls_total result=gave_up = 2",
            "retry_calls_total result=recovered = 1",
            // Three of 100 ms, two of 200 ms.
            "retry_delay_seconds = 0.1:3 1:5 inf:5",
            "retry_delay_seconds_count = 5",
            "retry_delay_seconds_sum = 0.7",
            "retry_failures_total cause=transient = 7",
            "retry_give_ups_total reason=attempts = 2",
        ]
    );
}

/// An error that is no answer says so by its code, under the attribute as under a policy alone.
#[test]
fn causes_of_no_answer() {
    #[retry(name = "metrics.lost", max = 2)]
    fn ask(kind: ErrorKind) -> io::Result<()> {
        Err(kind.into())
    }

    endpoint();
    let _time = virtual_time();
    let policy = Policy::new().max(2);
    for kind in [
        ErrorKind::ConnectionReset,
        ErrorKind::TimedOut,
        ErrorKind::Interrupted,
        ErrorKind::ConnectionRefused,
    ] {
        assert!(ask(kind).is_err());
        assert!(
            policy
                .runner()
                .name("metrics.lost")
                .run(|| Err::<(), _>(io::Error::from(kind)))
                .is_err()
        );
    }
    let samples = samples(&scrape(), "operation", "metrics.lost");
    let failures = samples.iter().filter(|it| it.contains("failures"));
    assert_eq!(
        failures.collect::<Vec<_>>(),
        [
            "retry_failures_total cause=connection = 4",
            "retry_failures_total cause=refused = 4",
            "retry_failures_total cause=timeout = 4",
            "retry_failures_total cause=transient = 4",
        ]
    );
}

#[test]
fn every_metric_is_described() {
    endpoint();
    let _time = virtual_time();
    let policy = STEADY.on(|_: &u8| true).name("metrics.described");
    assert_eq!(policy.run(|| Err::<(), u8>(1)), Err(1));
    let docs = scrape().docs;
    for name in [
        "retry_calls_total",
        "retry_attempts_total",
        "retry_give_ups_total",
        "retry_delay_seconds",
    ] {
        assert!(
            docs.get(name).is_some_and(|text| !text.is_empty()),
            "{name}"
        );
    }
}

/// Four tokens, of which a call that makes three attempts takes two, and gets 0.01 for its first failure once one is missing.
#[test]
fn the_balance_of_the_default_budget() {
    #[retry(policy = STEADY, name = "metrics.default", on(_))]
    fn fails() -> Result<(), Declined> {
        Err(Declined(503))
    }

    endpoint();
    let _time = virtual_time();
    assert!(fails().is_err());
    let samples = samples(&scrape(), "operation", "metrics.default");
    let balance = "retry_budget_balance = 2".to_owned();
    assert!(samples.contains(&balance), "{samples:?}");
}

#[test]
fn the_balance_of_a_budget() {
    static BUDGET: Budget = Budget::per_success(0.1).floor(0.0).initial(3);

    #[retry(policy = STEADY, name = "metrics.budgeted", budget = &BUDGET, on(_))]
    fn budgeted() -> Result<(), Declined> {
        Err(Declined(503))
    }

    endpoint();
    let _time = virtual_time();
    let balance = || {
        let samples = samples(&scrape(), "operation", "metrics.budgeted");
        let mut balances = samples
            .into_iter()
            .filter(|sample| sample.starts_with("retry_budget"));
        balances.next().unwrap()
    };
    assert!(budgeted().is_err());
    assert_eq!(balance(), "retry_budget_balance = 1");
    assert!(budgeted().is_err());
    assert_eq!(balance(), "retry_budget_balance = 0");
    let reasons = samples(&scrape(), "operation", "metrics.budgeted");
    assert!(
        reasons.contains(&"retry_give_ups_total reason=budget = 1".to_owned()),
        "{reasons:?}"
    );
}

#[test]
fn the_state_of_a_breaker() {
    static BREAKER: Breaker = Breaker::count_window(2)
        .cooldown(Duration::from_secs(1))
        .name("metrics.breaker");

    #[retry(policy = STEADY, name = "metrics.broken", breaker = &BREAKER, on(_))]
    fn broken(up: bool) -> Result<(), RetryError<Declined>> {
        if up { Ok(()) } else { Err(Declined(503)) }
    }

    endpoint();
    let time = virtual_time();
    let state = || samples(&scrape(), "breaker", "metrics.breaker");
    while BREAKER.state() == reattempt::overload::breaker::State::Closed {
        assert!(broken(false).is_err());
    }
    assert_eq!(state(), ["retry_breaker_state = 2"]);
    assert!(broken(true).is_err());
    time.advance(Duration::from_secs(5));
    while BREAKER.state() != reattempt::overload::breaker::State::Closed {
        assert!(broken(true).is_ok());
    }
    assert_eq!(state(), ["retry_breaker_state = 0"]);
}
