//! Requirements that belong to no one part: a test for each, by its number.
#![allow(
    clippy::unwrap_used,
    clippy::items_after_statements,
    clippy::needless_pass_by_value,
    reason = "a test that fails says where"
)]

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reattempt::config::Config;
use reattempt::observe::{self, CallInfo, Event, RetryCause};
use reattempt::testing::virtual_time;
use reattempt::timer::{Clock as _, ThreadTimer, Timestamp};
use reattempt::{
    Backoff, Breaker, Classify, GaveUp, GiveUpReason, Jitter, Policy, RetryError, Verdict, retry,
    tables,
};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Collects what `look` sees of each event of a call while `call` runs.
fn observed<T: Send + 'static, R>(
    look: impl Fn(&Event<'_>, &CallInfo<'_>) -> T + Send + Sync + 'static,
    call: impl FnOnce() -> R,
) -> (R, Vec<T>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let observer = move |event: &Event<'_>| {
        if let Some(facts) = event.facts() {
            kept.lock().unwrap().push(look(event, facts));
        }
    };
    let answer = observe::scope_blocking(Arc::new(observer), call);
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (answer, seen)
}

/// Its rows name tests that exist, at least one for each number.
#[test]
fn every_requirement_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rows = include_str!("requirements.md")
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| id |"));
    for (letter, last) in [('A', 25), ('B', 12), ('C', 11), ('D', 12)] {
        for number in 1..=last {
            let (row, id) = (rows.next().unwrap(), format!("| {letter}{number} |"));
            assert!(row.starts_with(&id), "{id} {row}");
            let tests = row.rsplit(" | ").next().unwrap();
            let tests: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
            assert!(!tests.is_empty(), "{row}");
            for test in tests {
                let (file, name) = test.split_once("::").unwrap();
                let text = fs::read_to_string(root.join(file)).unwrap();
                let (before, _) = text
                    .split_once(&format!("fn {name}("))
                    .unwrap_or_else(|| panic!("{test}"));
                let attributes = before.rsplit("\n\n").next().unwrap();
                let is_test = attributes.contains("test]") || attributes.contains("test(");
                assert!(is_test, "{test} is no test");
                assert!(!attributes.contains("#[ignore"), "{test} does not run");
            }
        }
    }
    assert_eq!(rows.next(), None);
}

/// Few quick retries within a time, or more over minutes; attempts and delays have a limit in total.
#[test]
fn a7_the_ready_made_policies_fit_their_settings() {
    let (quick, long) = (Policy::interactive(), Policy::background());
    let total = |policy: Policy| policy.worst_case().total_delay().unwrap();
    assert_eq!(quick.worst_case().total_time(), Some(seconds(2)));
    assert!(quick.attempts() <= Some(3) && total(quick) < seconds(1));
    assert!(long.attempts() >= Some(10));
    for policy in [long, Policy::transaction_step()] {
        assert!((seconds(60)..seconds(3600)).contains(&total(policy)));
    }
}

/// What the database has rolled back runs again as a whole; after a COMMIT without an answer nothing does.
#[test]
fn a13_a_transaction_is_retried_from_its_beginning() {
    #[retry(max = 3, idempotent = false, on = |state: &&str| tables::sqlstate(state))]
    fn transfer(
        done: &mut Vec<&'static str>,
        failures: &mut Vec<(&'static str, &'static str)>,
    ) -> Result<(), &'static str> {
        for statement in ["begin", "take", "give", "commit"] {
            done.push(statement);
            if let Some((_, state)) = failures.pop_if(|(at, _)| *at == statement) {
                return Err(state);
            }
        }
        Ok(())
    }

    let _time = virtual_time();
    for (at, state, expected) in [
        ("give", "40001", "begin take give begin take give commit"),
        (
            "commit",
            "40P01",
            "begin take give commit begin take give commit",
        ),
        ("commit", "40003", "begin take give commit"),
    ] {
        let mut done = Vec::new();
        let _ended = transfer(&mut done, &mut vec![(at, state)]);
        assert_eq!(done.join(" "), expected, "{state}");
    }
}

/// Two looks at the monotonic clock have that of a call between them, and no call has a thread of its own.
#[test]
fn c4_time_is_that_of_the_monotonic_clock() {
    #[retry(max = 2, base = "1s", timeout = "1s", deadline = "1m", on(_))]
    async fn fails() -> Result<(), RetryError<u8>> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Err(1)
    }

    let before = Timestamp::from(Instant::now());
    let now = ThreadTimer.now();
    let after = Timestamp::from(Instant::now());
    assert!(
        before <= now && now <= after,
        "{before:?} {now:?} {after:?}"
    );

    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let calls = futures::future::join_all((0..100).map(|_| fails()));
    assert!(runtime.block_on(calls).iter().all(Result::is_err));
    // As Linux shows them. One thread looks after all waits of runtimes with one thread.
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let names = threads.map(|thread| fs::read_to_string(thread.unwrap().path().join("comm")));
    let ours = names.filter(|name| {
        name.as_ref()
            .is_ok_and(|name| name.starts_with("reattempt"))
    });
    assert!(ours.count() <= 2);
}

/// Without any key, and outside of a request.
#[test]
fn b9_each_retry_has_all_nine_fields() {
    #[retry]
    fn read(calls: &mut u32) -> io::Result<()> {
        *calls += 1;
        Err(ErrorKind::TimedOut.into())
    }

    /// Request id, kind, operation, times, iteration, delay, and the error's type and message.
    type Nine = (
        String,
        &'static str,
        &'static str,
        bool,
        u32,
        Option<Duration>,
        String,
        String,
    );

    let look = |event: &Event<'_>, facts: &CallInfo<'_>| -> Nine {
        let delay = match event {
            Event::Retry(_, delay) => Some(*delay),
            _ => None,
        };
        let started = facts.started_at().unwrap();
        (
            facts.request_id().unwrap().to_owned(),
            facts.policy(),
            facts.operation(),
            started <= facts.ended_at(),
            facts.attempt(),
            delay,
            facts.error_type().unwrap().to_owned(),
            facts.error_message().unwrap().to_owned(),
        )
    };
    let _time = virtual_time();
    let (_, first) = observed(look, || read(&mut 0));
    let (_, second) = observed(look, || read(&mut 0));
    // Two retries and the end, each after the failure of an attempt.
    assert_eq!(first.len(), 6);
    let retries: Vec<_> = first.iter().filter(|nine| nine.5.is_some()).collect();
    assert_eq!(retries.len(), 2);
    let id = &first[0].0;
    assert!(!id.is_empty());
    for (number, nine) in (1..).zip(retries) {
        assert_eq!((nine.1, nine.3, nine.4), ("exp", true, number));
        assert!(nine.2.ends_with("::read"), "{}", nine.2);
        assert_eq!((&*nine.6, &*nine.7), ("std::io::error::Error", "timed out"));
    }
    // All events of a call have its id, and no other call has it.
    assert!(first.iter().all(|nine| &nine.0 == id));
    assert!(second.iter().all(|nine| &nine.0 != id));
    // A request has the id that it was given.
    let (_, asked) = observed(look, || {
        observe::request_blocking("request 7", || read(&mut 0))
    });
    assert!(asked.iter().all(|nine| nine.0 == "request 7"));
}

/// Why each retry is made: the failure and the retry, twice, and then the end.
#[test]
fn a24_a_retry_says_why_it_is_made() {
    #[derive(Debug)]
    struct Failed(Verdict);

    impl Classify for Failed {
        fn classify(&self) -> Verdict {
            self.0
        }
    }

    #[retry(max = 2)]
    fn fails(verdict: Verdict) -> Result<(), Failed> {
        Err(Failed(verdict))
    }

    #[retry(max = 2)]
    async fn fails_async(verdict: Verdict) -> Result<(), Failed> {
        Err(Failed(verdict))
    }

    #[retry(max = 2, timeout = "1s")]
    async fn hangs() -> Result<(), RetryError<Failed>> {
        std::future::pending().await
    }

    #[retry(max = 2, until = |is_ready| *is_ready)]
    fn polls() -> bool {
        false
    }

    fn causes(call: impl FnOnce()) -> Vec<(&'static str, Option<&'static str>)> {
        let look = |event: &Event<'_>, facts: &CallInfo<'_>| {
            (event.name(), facts.cause().map(RetryCause::as_str))
        };
        observed(look, call).1
    }

    fn block_on(call: impl Future) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        runtime.block_on(call);
    }

    let _time = virtual_time();
    for (verdict, cause) in [
        (Verdict::Transient, Some("transient")),
        (Verdict::TransientAfter(seconds(1)), Some("throttled")),
        (Verdict::Throttled(None), Some("throttled")),
        (Verdict::Throttled(Some(seconds(1))), Some("throttled")),
        (Verdict::Refused, Some("refused")),
        (Verdict::Permanent, None),
        (Verdict::RetryForbidden, None),
    ] {
        let end = [("attempt_failed", cause), ("gave_up", cause)];
        let retry = cause.map(|_| [("attempt_failed", cause), ("retry", cause)]);
        let expected: Vec<_> = retry.into_iter().flatten().chain(end).collect();
        let policy = Policy::new().max(2);
        assert_eq!(causes(|| drop(fails(verdict))), expected);
        assert_eq!(causes(|| block_on(fails_async(verdict))), expected);
        let run = || drop(policy.run(|| Err::<(), _>(Failed(verdict))));
        assert_eq!(causes(run), expected);
    }
    for (seen, cause) in [
        (causes(|| block_on(hangs())), Some("timeout")),
        (causes(|| assert!(!polls())), Some("not_final")),
    ] {
        let names = ["attempt_failed", "retry", "attempt_failed", "gave_up"];
        assert_eq!(seen, names.map(|name| (name, cause)));
    }
}

/// An attempt as long as a second has the start that it had.
#[test]
fn b9_the_first_attempt_has_its_start() {
    let time = virtual_time();
    let look = |_: &Event<'_>, facts: &CallInfo<'_>| facts.elapsed();
    let (_, seen) = observed(look, || {
        Policy::new().max(1).on(|_: &u8| true).run(|| {
            time.advance(seconds(1));
            Err::<(), _>(1)
        })
    });
    assert_eq!(seen, [Some(seconds(1)); 2]);
}

#[test]
fn b11_an_event_names_what_was_called() {
    #[retry(max = 2, on(_), detail = host)]
    fn send(host: &str) -> Result<(), u8> {
        let _ = host;
        Err(1)
    }

    #[retry(max = 2, on(_), detail = format_args!("{host}:{}", 80))]
    fn send_owned(host: String) -> Result<usize, u8> {
        Err(host.len().try_into().unwrap())
    }

    struct Client(String);

    impl Client {
        #[retry(max = 2, on(_), timeout = "1s", detail = self.0)]
        async fn hang(&self) -> Result<(), RetryError<u8>> {
            std::future::pending().await
        }
    }

    let look = |_: &Event<'_>, facts: &CallInfo<'_>| facts.detail().map(str::to_owned);
    let all = |text: &str| vec![Some(text.to_owned()); 4];
    let _time = virtual_time();
    assert_eq!(observed(look, || send("shop")).1, all("shop"));
    assert_eq!(
        observed(look, || send_owned("shop".into())).1,
        all("shop:80")
    );
    let runner = || {
        let policy = Policy::new().max(2);
        policy
            .on(|_: &u8| true)
            .detail("bank")
            .run(|| Err::<(), _>(1))
    };
    assert_eq!(observed(look, runner).1, all("bank"));
    let runtime = tokio::runtime::Builder::new_current_thread();
    let mut runtime = runtime;
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let client = Client("mail".to_owned());
    let (ended, seen) = observed(look, || runtime.block_on(client.hang()));
    assert!(ended.is_err());
    assert_eq!(seen, all("mail"));
    // A call without a detail reports none.
    let unnamed = || {
        Policy::new()
            .max(2)
            .on(|_: &u8| true)
            .run(|| Err::<(), _>(1))
    };
    assert_eq!(observed(look, unnamed).1, vec![None; 4]);
}

/// B5's delay for a random factor `r`: `min(maximum, minimum + (2^n - 1) * delta * r)`.
fn of_seed(retry: u32, r: f64) -> f64 {
    (2_f64 + (2_f64.powi(retry.try_into().unwrap()) - 1.0) * 3.0 * r).min(60.0)
}

/// The exponential of the seed has a word that a file can name.
#[test]
fn b10_the_seeds_exponential_is_a_shape_of_files() {
    let file = Config::from_toml(
        r#"
        [policies.storage]
        backoff = "exp_above_first"
        first = "2s"
        base = "3s"
        cap = "1m"
        max = 40
        budget = 0.1
        "#,
    )
    .unwrap();
    let policy = file.policy("storage").unwrap();
    assert_eq!(policy.violation(), None);
    for retry in 0..40 {
        let (low, high) = policy.delay_bounds(retry);
        let drawn = |bits| policy.sample_delay(retry, None, || bits).as_secs_f64();
        let near = |one: f64, other: f64| (one - other).abs() < 1e-6;
        assert!(
            near(low.as_secs_f64(), of_seed(retry, 0.8)),
            "{retry}: {low:?}"
        );
        assert!(
            near(high.as_secs_f64(), of_seed(retry, 1.2)),
            "{retry}: {high:?}"
        );
        assert!(near(drawn(0), of_seed(retry, 0.8)), "{retry}");
        assert!(near(drawn(u64::MAX), of_seed(retry, 1.2)), "{retry}");
        assert!(near(drawn(1 << 63), of_seed(retry, 1.0)), "{retry}");
        assert!(
            near(policy.delay(retry).as_secs_f64(), of_seed(retry, 1.0)),
            "{retry}"
        );
    }
    // The minimum is exact, and what overflows is the maximum.
    assert_eq!(policy.delay_bounds(0), (seconds(2), seconds(2)));
    assert_eq!(
        policy.sample_delay(u32::MAX, None, || u64::MAX),
        seconds(60)
    );
    let fast = policy.fast_first(true);
    assert_eq!(fast.sample_delay(0, None, || 7), Duration::ZERO);
    assert_eq!(fast.delay_bounds(1), policy.delay_bounds(1));
    // A jitter that is given spreads the growth alone, too.
    let full = policy.jitter(Jitter::Full);
    assert_eq!(full.delay_bounds(1), (seconds(2), seconds(5)));

    #[retry(
        backoff = "exp_above_first",
        max = 3,
        base = "3s",
        first = "2s",
        jitter = "none",
        on(_)
    )]
    fn by_attribute() -> Result<(), u8> {
        Err(1)
    }

    let time = virtual_time();
    assert_eq!(by_attribute(), Err(1));
    assert_eq!(time.elapsed(), seconds(2 + 5));
    assert_eq!(Backoff::ExpAboveFirst.as_str(), "exp_above_first");
}

#[test]
fn a18_a_policy_for_steps_of_transactions_makes_success_likely() {
    const STEP: Policy = Policy::transaction_step().checked();

    assert_eq!(STEP.violation(), None);
    let (usual, step) = (Policy::new().worst_case(), STEP.worst_case());
    assert!(step.attempts() >= usual.attempts().map(|attempts| attempts * 4));
    // It outlasts an outage of a minute, also when every delay is the shortest.
    let least: Duration = (0..11).map(|retry| STEP.delay_bounds(retry).0).sum();
    assert!(least >= seconds(60), "{least:?}");

    #[retry(policy = STEP)]
    fn charge(calls: &mut u32) -> io::Result<u32> {
        *calls += 1;
        if *calls < 12 {
            return Err(ErrorKind::ConnectionReset.into());
        }
        Ok(*calls)
    }

    let _time = virtual_time();
    assert_eq!(charge(&mut 0).unwrap(), 12);
}

/// By the verdict alone, and by a table in a file.
#[test]
fn a12_the_kind_of_error_decides_the_delay() {
    #[derive(Debug, Clone, Copy)]
    struct Failed(&'static str, Verdict);

    impl Classify for Failed {
        fn classify(&self) -> Verdict {
            self.1
        }

        fn has_code(&self, code: &str) -> bool {
            code == self.0
        }
    }

    let first_delay = |policy: Policy, error: Failed| {
        let _time = virtual_time();
        let recorder = reattempt::testing::record();
        policy.run(|| Err::<(), _>(error)).unwrap_err();
        recorder.calls()[0].delays().first().copied()
    };
    let dropped = Failed("none", Verdict::Transient);
    let busy = Failed("503", Verdict::Throttled(None));
    let lost = Failed("404", Verdict::Permanent);

    let plain = Policy::new().max(3).jitter(Jitter::None);
    let short = Some(Duration::from_millis(100));
    assert_eq!(first_delay(plain, dropped), short);
    assert_eq!(first_delay(plain, busy), Some(seconds(1)));
    assert_eq!(first_delay(plain, lost), None);

    let file = Config::from_toml(
        r#"
        [policies.store]
        max = 3
        jitter = "none"
        codes = { 503 = { verdict = "throttled", base = "5s" }, 404 = "transient" }
        "#,
    )
    .unwrap();
    let table = file.policy("store").unwrap();
    assert_eq!(first_delay(table, busy), Some(seconds(5)));
    // The row decides in place of the type.
    assert_eq!(first_delay(table, lost), short);
}

/// An error that says when to come back.
#[derive(Debug, Clone, PartialEq)]
struct Busy(Duration);

impl Classify for Busy {
    fn classify(&self) -> Verdict {
        Verdict::Throttled(Some(self.0))
    }
}

#[test]
fn a19_an_end_says_after_how_long_another_try_makes_sense() {
    #[retry(max = 2)]
    fn asked(wait: Duration) -> Result<(), RetryError<Busy>> {
        Err(Busy(wait))
    }

    #[retry(max = 2)]
    fn failed(kind: ErrorKind) -> Result<(), RetryError<io::Error>> {
        Err(kind.into())
    }

    let _time = virtual_time();
    // The service says it, whether the call gave up because of that or because of its attempts.
    for (wait, reason) in [
        (seconds(7), GiveUpReason::Attempts),
        (seconds(90), GiveUpReason::RetryAfterTooLong),
    ] {
        let error = asked(wait).unwrap_err();
        assert_eq!((error.reason(), error.retry_after()), (reason, Some(wait)));
        assert_eq!(error.end().retry_after(), Some(wait));
    }
    // Else the reason says it.
    let error = failed(ErrorKind::ConnectionReset).unwrap_err();
    assert_eq!(error.retry_after(), GiveUpReason::Attempts.retry_after());
    assert!(error.retry_after().is_some());
    let error = failed(ErrorKind::NotFound).unwrap_err();
    assert_eq!((error.attempts(), error.retry_after()), (1, None));
}

#[test]
fn a19_a_breaker_says_when_it_lets_calls_through() {
    static SHOP: Breaker = Breaker::count_window(2).cooldown(seconds(40));

    #[retry(max = 2, breaker = &SHOP)]
    fn buy() -> Result<(), RetryError<io::Error>> {
        Err(ErrorKind::ConnectionReset.into())
    }

    let time = virtual_time();
    let mut last = buy().unwrap_err();
    while last.attempts() > 0 {
        last = buy().unwrap_err();
    }
    assert_eq!(last.reason(), GiveUpReason::BreakerOpen);
    let wait = last.retry_after().unwrap();
    // A wait is drawn from 80 % to all of the cool-down.
    assert!((seconds(31)..=seconds(40)).contains(&wait), "{wait:?}");
    time.advance(seconds(20));
    let later = buy().unwrap_err().retry_after().unwrap();
    assert!(wait >= later + seconds(19), "{wait:?} {later:?}");
}

mod layers {
    use super::*;
    use std::fmt;

    /// An error with what a call that was given up needs.
    #[derive(Debug, PartialEq, Classify)]
    enum Shop {
        #[retry(transient)]
        Busy,
        #[retry(transient)]
        GaveUp(GaveUp),
    }

    impl fmt::Display for Shop {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the shop is busy")
        }
    }

    impl std::error::Error for Shop {}

    impl From<GaveUp> for Shop {
        fn from(end: GaveUp) -> Self {
            Self::GaveUp(end)
        }
    }

    #[retry(max = 2)]
    fn inner(calls: &mut u32) -> Result<u8, RetryError<Shop>> {
        *calls += 1;
        Err(Shop::Busy)
    }

    #[retry(max = 3)]
    fn outer(calls: &mut u32) -> Result<u8, RetryError<Shop>> {
        Ok(inner(calls)? + 1)
    }

    #[retry(max = 3, timeout = "1s", deadline = "1m")]
    async fn outer_of_async(calls: &mut u32) -> Result<u8, RetryError<Shop>> {
        Ok(inner_async(calls).await? + 1)
    }

    #[retry(max = 2, timeout = "1s", nested = "multiply")]
    async fn inner_async(calls: &mut u32) -> Result<u8, RetryError<Shop>> {
        *calls += 1;
        std::future::pending().await
    }

    #[retry(max = 2)]
    fn read(calls: &mut u32) -> Result<u8, RetryError<io::Error>> {
        *calls += 1;
        Err(ErrorKind::ConnectionReset.into())
    }

    #[retry(max = 2)]
    fn read_twice(calls: &mut u32) -> Result<u8, RetryError<io::Error>> {
        Ok(read(calls)?)
    }

    /// An error that nothing can be made of.
    #[derive(Debug, PartialEq)]
    struct Plain;

    #[retry(max = 2, on(_))]
    fn plain(calls: &mut u32) -> Result<u8, RetryError<Plain>> {
        *calls += 1;
        Err(Plain)
    }

    #[retry(max = 2, on(_), map_err = RetryError::flatten)]
    fn plain_twice(calls: &mut u32) -> Result<u8, RetryError<Plain>> {
        plain(calls)
    }

    #[test]
    fn a_retry_error_passes_a_second_layer() {
        let _time = virtual_time();
        let mut calls = 0;
        let error = outer(&mut calls).unwrap_err();
        assert_eq!((error.attempts(), error.last()), (3, Some(&Shop::Busy)));
        // Two of the first attempt, one of each retry.
        assert_eq!(calls, 4);

        let mut calls = 0;
        let error = read_twice(&mut calls).unwrap_err();
        assert_eq!((error.attempts(), calls), (2, 3));
        assert!(error.last().is_some());

        let mut calls = 0;
        let error = plain_twice(&mut calls).unwrap_err();
        assert_eq!((error.attempts(), error.last()), (2, Some(&Plain)));
        assert_eq!(calls, 3);
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_without_an_error_passes_a_second_layer() {
        let mut calls = 0;
        let error = outer_of_async(&mut calls).await.unwrap_err();
        assert_eq!(error.attempts(), 3);
        assert!(calls >= 3, "{calls}");
    }

    #[test]
    fn a_retry_error_is_one_sentence() {
        let end = |attempts| GaveUp::new(GiveUpReason::Attempts, attempts);
        let inner = RetryError::new(end(2), Some(Shop::Busy));
        let cut: RetryError<Shop> = GaveUp::new(GiveUpReason::Deadline, 1).timed_out().into();
        let table = [
            (
                inner.to_string(),
                "gave up after 2 attempts because all attempts are used up: the shop is busy",
            ),
            (
                RetryError::new(end(3), Some(inner)).to_string(),
                "gave up after 3 attempts because all attempts are used up: the shop is busy",
            ),
            (
                cut.to_string(),
                "gave up after 1 attempt because the deadline leaves no time for another attempt \
                 and the last attempt timed out",
            ),
            (
                RetryError::new(end(3), Some(cut)).to_string(),
                "gave up after 3 attempts because all attempts are used up: the deadline leaves no \
                 time for another attempt and the last attempt timed out",
            ),
            (
                RetryError::new(end(3), Some(io::Error::from(end(1)))).to_string(),
                "gave up after 3 attempts because all attempts are used up: all attempts are used up",
            ),
        ];
        for (said, expected) in table {
            assert_eq!(said, expected);
        }
    }
}
