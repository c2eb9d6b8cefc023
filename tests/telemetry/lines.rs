//! Lines of `tracing`: every field of a retry, a give-up and a recovery; levels, parents, and what is left out.

use std::cell::Cell;
use std::time::Duration;

use reattempt::testing::{VirtualTime, virtual_time};
use reattempt::{
    Breaker, Jitter, Policy, RetryError, Telemetry, deadline, observe, observe::Level, retry,
};
use serde_json::{Value, json};
use tracing::Level as At;

use crate::support::{Declined, Lines, reported};

/// Delays of 100 ms and 200 ms.
const STEADY: Policy = Policy::new()
    .max(3)
    .base(Duration::from_millis(100))
    .jitter(Jitter::None);
const TIMED: Policy = STEADY.telemetry(Telemetry::new().timings());

#[retry(policy = TIMED, name = "lines.charge", on(_))]
fn charge(time: &VirtualTime, failures: &mut u32) -> Result<&'static str, Declined> {
    time.advance(Duration::from_millis(250));
    if *failures > 0 {
        *failures -= 1;
        return Err(Declined(503));
    }
    Ok("charged")
}

#[test]
fn a_retry_and_a_recovery_have_every_field() {
    let (time, lines) = (virtual_time(), Lines::keep(At::DEBUG));
    let answer = observe::request_blocking("r-17", || charge(&time, &mut 1));
    assert_eq!(answer.unwrap(), "charged");

    let lines = lines.take();
    assert_eq!(reported(&lines), ["DEBUG retry", "INFO recovered"]);
    let mut retry = lines[0].clone();
    assert_eq!(retry["target"], "reattempt");
    took(&mut retry, 250);
    assert_eq!(
        retry["fields"],
        json!({
            "message": "retry",
            "operation": "lines.charge",
            "request_id": "r-17",
            "policy": "exp",
            "attempt": 1,
            "max": 3,
            "delay": 0.1,
            "elapsed": 0.25,
            "cause": "transient",
            "error.type": std::any::type_name::<Declined>(),
            "error.message": "status 503",
        })
    );
    let mut recovered = lines[1].clone();
    took(&mut recovered, 250);
    let fields = recovered["fields"].as_object_mut().unwrap();
    assert_eq!(
        Value::Object(fields.clone()),
        json!({
            "message": "recovered",
            "operation": "lines.charge",
            "request_id": "r-17",
            "policy": "exp",
            "attempt": 2,
            "max": 3,
            "elapsed": 0.25,
            // Two attempts and a delay.
            "call_elapsed": 0.6,
            // Of the failure before.
            "cause": "transient",
            "error.type": std::any::type_name::<Declined>(),
            "error.message": "status 503",
        })
    );
}

/// An attempt is timed from its own start, not from that of the call: one with a limit, and those of a runner.
#[tokio::test(start_paused = true)]
async fn a_retry_is_timed_by_itself() {
    async fn attempt(failures: &Cell<u32>) -> Result<u32, Declined> {
        tokio::time::sleep(Duration::from_millis(250)).await;
        match failures.get().checked_sub(1) {
            Some(left) => {
                failures.set(left);
                Err(Declined(503))
            }
            None => Ok(7),
        }
    }
    #[retry(policy = TIMED, timeout = "1s", on(_))]
    async fn limited(failures: &Cell<u32>) -> Result<u32, RetryError<Declined>> {
        attempt(failures).await
    }
    let runner = TIMED.on(|_: &Declined| true);
    for way in 0..2 {
        let (lines, failures) = (Lines::keep(At::DEBUG), Cell::new(1));
        let answer = match way {
            0 => limited(&failures).await,
            _ => runner.try_run_async(|| attempt(&failures)).await,
        };
        assert_eq!(answer.unwrap(), 7);

        let lines = lines.take();
        assert_eq!(reported(&lines), ["DEBUG retry", "INFO recovered"], "{way}");
        let times =
            |line: &Value| ["elapsed", "call_elapsed"].map(|time| line["fields"][time].as_f64());
        assert_eq!(times(&lines[0]), [Some(0.25), None], "{way}");
        assert_eq!(times(&lines[1]), [Some(0.25), Some(0.6)], "{way}");
    }
}

/// Who reads `WARN` alone learns why it was retried at all.
#[test]
fn a_call_that_ends_between_attempts_has_the_error_before() {
    static SHUT: Breaker = Breaker::count_window(9);
    #[retry(breaker = &SHUT, on(_))]
    fn shuts() -> Result<(), RetryError<Declined>> {
        SHUT.force_open();
        Err(Declined(503))
    }
    let (_time, lines) = (virtual_time(), Lines::keep(At::WARN));
    assert!(shuts().is_err());
    let lines = lines.take();
    let ended = lines
        .iter()
        .find(|line| line["fields"]["message"] == "gave up");
    let fields = &ended.expect("it gave up")["fields"];
    assert_eq!(fields["reason"], "breaker_open");
    assert_eq!(fields["error.message"], "status 503");
}

#[test]
fn a_give_up_has_every_field() {
    let (time, lines) = (virtual_time(), Lines::keep(At::WARN));
    let answer = observe::request_blocking("r-18", || charge(&time, &mut 9));
    assert_eq!(answer.unwrap_err().0, 503);

    let mut lines = lines.take();
    assert_eq!(reported(&lines), ["WARN gave up"]);
    took(&mut lines[0], 250);
    assert_eq!(
        lines[0]["fields"],
        json!({
            "message": "gave up",
            "operation": "lines.charge",
            "request_id": "r-18",
            "policy": "exp",
            "attempt": 3,
            "max": 3,
            "elapsed": 0.25,
            // Three attempts and two delays.
            "call_elapsed": 1.05,
            "cause": "transient",
            "error.type": std::any::type_name::<Declined>(),
            "error.message": "status 503",
            "reason": "attempts",
        })
    );
}

/// Takes the times out of the line: RFC 3339 in UTC, with so many milliseconds between.
fn took(line: &mut Value, millis: u64) {
    let fields = line["fields"].as_object_mut().unwrap();
    let [start, end] = ["started_at", "ended_at"].map(|name| {
        let time = fields.remove(name).unwrap_or_else(|| panic!("no {name}"));
        let time = time.as_str().unwrap().to_owned();
        let digits = time.replace(|c: char| c.is_ascii_digit(), "0");
        assert_eq!(digits, "0000-00-00T00:00:00.000Z");
        let of_minute: f64 = time[17..23].parse().unwrap();
        of_minute
    });
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below 60,000"
    )]
    let between = ((end - start).rem_euclid(60.0) * 1000.0).round() as u64;
    // Cut off to milliseconds, each.
    assert!(between.abs_diff(millis) <= 1, "{between} ms");
}

#[test]
fn a_line_has_what_is_known_without_asking() {
    let (_time, lines) = (virtual_time(), Lines::keep(At::DEBUG));
    let mut failures = 1;
    let answer: Result<(), std::io::Error> = STEADY.runner().name("lines.untimed").run(|| {
        if failures == 0 {
            return Ok(());
        }
        failures -= 1;
        Err(std::io::ErrorKind::TimedOut.into())
    });
    answer.unwrap();
    let lines = lines.take();
    assert_eq!(reported(&lines), ["DEBUG retry", "INFO recovered"]);
    let fields = lines[0]["fields"].as_object().unwrap();
    assert!(fields.contains_key("ended_at") && fields.contains_key("error.type"));
    for known in ["started_at", "elapsed", "request_id"] {
        assert!(fields.contains_key(known), "{known}");
    }
    for unknown in ["detail", "reason", "left_out"] {
        assert!(!fields.contains_key(unknown), "{unknown}");
    }
    assert!(lines[1]["fields"]["started_at"].is_string());
}

#[test]
fn levels_are_those_of_the_policy() {
    let _time = virtual_time();
    let of = |telemetry: Telemetry, level| {
        let lines = Lines::keep(level);
        let policy = STEADY.telemetry(telemetry.give_up_interval(Duration::ZERO));
        let answer: Result<(), u8> = policy.on(|_: &u8| true).name("lines.levels").run(|| Err(1));
        assert_eq!(answer, Err(1));
        reported(&lines.take())
    };
    let all = of(Telemetry::new(), At::TRACE);
    assert_eq!(
        all,
        [
            "TRACE attempt failed",
            "DEBUG retry",
            "TRACE attempt failed",
            "INFO retry",
            "TRACE attempt failed",
            "WARN gave up"
        ]
    );
    assert_eq!(
        of(Telemetry::new(), At::INFO),
        ["INFO retry", "WARN gave up"]
    );
    let loud = Telemetry::new()
        .first_retry(Level::Off)
        .give_up(Level::Error);
    assert_eq!(of(loud, At::DEBUG), ["INFO retry", "ERROR gave up"]);
    assert_eq!(of(Telemetry::quiet(), At::TRACE), Vec::<String>::new());
}

#[test]
fn a_thread_without_a_subscriber_silences_nobody() {
    let lines = Lines::keep(At::INFO);
    let say = || tracing::info!("heard");
    std::thread::spawn(say).join().unwrap();
    say();
    assert_eq!(reported(&lines.take()), ["INFO heard"]);
}

#[retry(policy = STEADY, name = "lines.parent", on(_))]
async fn parented(failures: &mut u32) -> Result<(), Declined> {
    if *failures > 0 {
        *failures -= 1;
        return Err(Declined(503));
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_span_of_the_caller_is_the_parent() {
    use tracing::Instrument as _;

    let lines = Lines::keep(At::INFO);
    let span = tracing::info_span!(target: "elsewhere", "handler", path = "/pay");
    parented(&mut 2).instrument(span).await.unwrap();
    let lines = lines.take();
    assert_eq!(reported(&lines), ["INFO retry", "INFO recovered"]);
    for line in lines {
        assert_eq!(line["span"], json!({ "name": "handler", "path": "/pay" }));
    }
}

#[test]
fn repeated_give_ups_of_an_operation_are_left_out_and_counted() {
    let fail = |name| {
        let once = Policy::new().max(1);
        let answer: Result<(), u8> = once.on(|_: &u8| true).name(name).run(|| Err(1));
        assert_eq!(answer, Err(1));
    };
    let (time, lines) = (virtual_time(), Lines::keep(At::WARN));
    let left_out = || {
        let lines = lines.take();
        lines
            .iter()
            .map(|line| line["fields"]["left_out"].clone())
            .collect::<Vec<_>>()
    };
    for _ in 0..5 {
        fail("lines.limited");
    }
    assert_eq!(left_out(), [Value::Null]);
    fail("lines.another");
    assert_eq!(left_out(), [Value::Null]);
    time.advance(Duration::from_millis(9_999));
    fail("lines.limited");
    assert_eq!(left_out(), Vec::<Value>::new());
    time.advance(Duration::from_millis(1));
    fail("lines.limited");
    assert_eq!(left_out(), [json!(5)]);

    // Only lines are limited.
    let stats = observe::stats();
    assert_eq!(stats.operation("lines.limited").unwrap().gave_up(), 7);
}

/// A call that its caller's deadline has cut off says so in place of an error. One that has made no attempt has none.
#[tokio::test(start_paused = true)]
async fn a_call_that_a_deadline_has_cut_off_says_so() {
    static OPEN: Breaker = Breaker::count_window(1);
    #[retry(name = "lines.cut", max = 3, deadline = "1h", on(_))]
    async fn cut() -> Result<(), RetryError<Declined>> {
        std::future::pending().await
    }
    #[retry(name = "lines.refused", max = 3, breaker = &OPEN, on(_))]
    async fn refused() -> Result<(), RetryError<Declined>> {
        Ok(())
    }
    OPEN.force_open();
    let lines = Lines::keep(At::DEBUG);
    drop(deadline::within(Duration::from_secs(1), cut()).await);
    drop(refused().await);
    let said = lines.take().into_iter().map(|line| {
        let fields = &line["fields"];
        (fields["operation"].clone(), fields["error.message"].clone())
    });
    let cut_off = json!("the deadline cut the attempt off");
    let expected = [
        (json!("lines.cut"), cut_off),
        (json!("lines.refused"), Value::Null),
    ];
    assert_eq!(said.collect::<Vec<_>>(), expected);
}
