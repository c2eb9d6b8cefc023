//! What a subscriber reads of an event.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

use super::*;
use crate::report;
use crate::support::{change, error_text, facts};
use reattempt_core::GiveUpReason;
use reattempt_policy::Telemetry;

#[path = "../../../../tests/capture.rs"]
mod capture;

type Fields = BTreeMap<&'static str, String>;

/// Keeps what it reads: level and fields of lines, names and fields of spans.
#[derive(Default, Clone)]
struct Kept(Arc<Mutex<Vec<(String, Fields)>>>);

impl Kept {
    fn read(report: impl FnOnce()) -> Vec<(String, Fields)> {
        let kept = Self::default();
        let _captured = capture::capture(kept.clone());
        report();
        kept.0.lock().expect("no panic").clone()
    }

    fn keep(&self, name: &str, record: impl FnOnce(&mut Fields)) {
        let mut fields = Fields::new();
        record(&mut fields);
        self.0
            .lock()
            .expect("no panic")
            .push((name.to_owned(), fields));
    }
}

struct Into<'a>(&'a mut Fields);

impl Visit for Into<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl Subscriber for Kept {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "reattempt"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.keep(span.metadata().name(), |fields| {
            span.record(&mut Into(fields));
        });
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut kept = self.0.lock().expect("no panic");
        let (_, fields) = kept.last_mut().expect("it is there");
        values.record(&mut Into(fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        assert!(event.is_contextual());
        self.keep(event.metadata().level().as_str(), |fields| {
            event.record(&mut Into(fields));
        });
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn fields<const N: usize>(fields: [(&'static str, &str); N]) -> Fields {
    fields.map(|(name, value)| (name, value.to_owned())).into()
}

#[test]
fn a_retry_has_every_field() {
    let error = error_text("503 from \"shop\"");
    let facts = facts("tracing_retry", Some(&error));
    let lines = Kept::read(|| report::deliver(&Event::Retry(&facts, Duration::from_millis(1500))));
    let expected = fields([
        ("message", "retry"),
        ("operation", "tracing_retry"),
        ("request_id", "r-17"),
        ("policy", "exp"),
        ("attempt", "2"),
        ("max", "4"),
        ("delay", "1.5"),
        ("started_at", "2009-02-13T23:31:29.873Z"),
        ("ended_at", "2009-02-13T23:31:30.123Z"),
        ("elapsed", "0.25"),
        ("cause", "throttled"),
        ("error.type", "shop::Unavailable"),
        ("error.message", "503 from \"shop\""),
    ]);
    assert_eq!(lines, [("INFO".to_owned(), expected)]);
}

#[test]
fn what_is_not_known_is_left_out() {
    let mut facts = facts("tracing_unknown", None);
    facts.request_id = None;
    facts.max = None;
    facts.cause = None;
    facts.elapsed = None;
    facts.call_elapsed = None;
    let lines = Kept::read(|| report::deliver(&Event::GaveUp(&facts, GiveUpReason::Throttle)));
    let expected = fields([
        ("message", "gave up"),
        ("operation", "tracing_unknown"),
        ("policy", "exp"),
        ("attempt", "2"),
        ("ended_at", "2009-02-13T23:31:30.123Z"),
        ("reason", "throttle"),
    ]);
    assert_eq!(lines, [("WARN".to_owned(), expected)]);
}

#[test]
fn an_empty_budget_of_an_operation_is_a_warning() {
    let lines = Kept::read(|| default_budget_is_empty("tracing_empty"));
    let [(level, fields)] = &*lines else {
        panic!("{lines:?}");
    };
    assert_eq!((&**level, &*fields["operation"]), ("WARN", "tracing_empty"));
    assert!(fields["message"].starts_with("retries end early: "));
}

#[test]
fn levels_are_those_of_the_policy() {
    let levels = |telemetry: Telemetry, attempt| {
        let mut facts = facts("tracing_levels", None);
        facts.telemetry = telemetry.give_up_interval(Duration::ZERO);
        facts.attempt = attempt;
        let lines = Kept::read(|| {
            report::deliver(&Event::AttemptFailed(&facts));
            report::deliver(&Event::Retry(&facts, Duration::ZERO));
            report::deliver(&Event::GaveUp(&facts, GiveUpReason::Attempts));
            report::deliver(&Event::Recovered(&facts));
        });
        let lines = lines.iter();
        lines
            .map(|(level, fields)| format!("{level} {}", fields["message"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        levels(Telemetry::new(), 1),
        [
            "TRACE attempt failed",
            "DEBUG retry",
            "WARN gave up",
            "INFO recovered"
        ]
    );
    assert_eq!(
        levels(Telemetry::new(), 2),
        [
            "TRACE attempt failed",
            "INFO retry",
            "WARN gave up",
            "INFO recovered"
        ]
    );
    let loud = Telemetry::new().retry(Level::Warn).give_up(Level::Error);
    assert_eq!(
        levels(loud.recovery(Level::Off), 1),
        ["TRACE attempt failed", "WARN retry", "ERROR gave up"]
    );
    assert!(levels(Telemetry::quiet(), 1).is_empty());
    assert!(levels(Telemetry::quiet(), 2).is_empty());
}

/// What is no retry, at the level of each kind.
#[test]
fn every_event_has_a_line() {
    let mut facts = facts("tracing_events", None);
    facts.telemetry = Telemetry::new()
        .give_up(Level::Error)
        .give_up_interval(Duration::ZERO);
    let violation = reattempt_policy::Text::new()
        .push("never")
        .breaks(reattempt_policy::RuleId::X1);
    let consequence = reattempt_policy::Consequence::SingleAttempt;
    let broken = format!("ERROR the policy breaks a rule, and {consequence}");
    let invalid = Event::InvalidPolicy {
        operation: "tracing_events",
        violation: &violation,
        consequence,
    };
    let path = std::path::Path::new("retry.toml");
    for (event, line, field) in [
        (
            Event::Dropped(&facts),
            "INFO dropped",
            ("call_elapsed", "0.6"),
        ),
        (
            Event::CopyStarted(&facts, 1),
            "DEBUG copy started",
            ("copy", "1"),
        ),
        (Event::HedgeWon(&facts, 0), "DEBUG hedge won", ("copy", "0")),
        (
            Event::TimeoutIgnored("it"),
            "WARN the timeout of the policy is not applied: `cut_off = false`",
            ("operation", "it"),
        ),
        (invalid, &*broken, ("rule", "X1")),
        (
            Event::Reloaded { from: Some(path) },
            "INFO the configuration was loaded",
            ("from", "retry.toml"),
        ),
        (
            Event::ReloadRefused(&fmt::Error),
            "ERROR the configuration was refused, what held before holds on",
            ("faults", "an error occurred when formatting an argument"),
        ),
        (
            Event::RetriesSwitched { on: true },
            "INFO retries are on again",
            ("message", "retries are on again"),
        ),
        (
            Event::RetriesSwitched { on: false },
            "WARN retries are switched off",
            ("message", "retries are switched off"),
        ),
    ] {
        let lines = Kept::read(|| {
            assert!(is_on() && reads_errors());
            report::deliver(&event);
        });
        let [(level, fields)] = &*lines else {
            panic!("{lines:?}");
        };
        assert_eq!(format!("{level} {}", fields["message"]), line);
        let (name, value) = field;
        assert_eq!(fields[name], value, "{line}");
    }
}

/// Once for each place, and only where a runtime is blocked.
#[test]
fn a_sync_call_in_an_async_runtime_is_a_warning() {
    let here = std::panic::Location::caller();
    for (is_in_async, count) in [(false, 0), (true, 1), (true, 0)] {
        let is_in_async: fn() -> bool = if is_in_async { || true } else { || false };
        let lines = Kept::read(|| warn_in_async(here, is_in_async));
        assert_eq!(lines.len(), count);
        for (level, fields) in lines {
            assert_eq!(level, "WARN");
            assert!(fields["message"].contains(file!()), "{fields:?}");
        }
    }
}

/// A request of HTTP says how often it was sent before.
#[test]
fn a_span_counts_what_was_sent_before() {
    let count = |failures| {
        let spans = Kept::read(|| {
            let _span = crate::AttemptSpan::new("tracing_resent", 2, None).resent(failures);
        });
        spans[0].1.get("http.request.resend_count").cloned()
    };
    assert_eq!((count(0), count(1)), (None, Some("1".to_owned())));
    assert_eq!(crate::in_span(&crate::AttemptSpan::NONE, || 7), 7);
}

/// One at once is an answer; one of a retry is where the call ends all the same.
#[test]
fn a_permanent_error_of_a_first_attempt_is_no_warning() {
    let level = |attempt, reason| {
        let mut facts = facts("tracing_permanent", None);
        facts.telemetry = facts.telemetry.give_up_interval(Duration::ZERO);
        facts.attempt = attempt;
        let lines = Kept::read(|| report::deliver(&Event::GaveUp(&facts, reason)));
        let levels: Vec<_> = lines.into_iter().map(|(level, _)| level).collect();
        levels.concat()
    };
    assert_eq!(level(1, GiveUpReason::Permanent), "DEBUG");
    assert_eq!(level(2, GiveUpReason::Permanent), "WARN");
    assert_eq!(level(1, GiveUpReason::Deadline), "WARN");
}

#[test]
fn a_breaker_that_opens_is_a_warning() {
    let changes = [
        change("tracing_breaker", State::Closed, State::ForcedOpen, None),
        change("tracing_breaker", State::ForcedOpen, State::Closed, None),
    ];
    let lines = Kept::read(|| {
        for change in &changes {
            report::deliver(&Event::BreakerChanged(change));
        }
    });
    let opened = fields([
        ("message", "breaker is open"),
        ("breaker", "tracing_breaker"),
        ("from", "closed"),
        ("to", "forced_open"),
    ]);
    let closed = fields([
        ("message", "breaker is closed"),
        ("breaker", "tracing_breaker"),
        ("from", "forced_open"),
        ("to", "closed"),
    ]);
    assert_eq!(
        lines,
        [("WARN".to_owned(), opened), ("INFO".to_owned(), closed)]
    );
}

#[test]
fn a_breaker_says_how_long_it_cools_down() {
    let cooldown = Duration::from_millis(5_250);
    let change = change(
        "tracing_tripped",
        State::Closed,
        State::Open,
        Some(cooldown),
    );
    let lines = Kept::read(|| report::deliver(&Event::BreakerChanged(&change)));
    let (level, fields) = &lines[0];
    let cooldown = cooldown.as_secs_f64();
    assert_eq!((level.as_str(), &*fields["to"]), ("WARN", "open"));
    assert_eq!(fields["cooldown"], format!("{cooldown:?}"));
}

#[test]
fn repeated_give_ups_are_left_out_and_counted() {
    let every = Duration::from_secs(10);
    let at = |seconds| Timestamp::from_origin(Duration::from_secs(seconds));
    let mut lines = Lines(BTreeMap::new());
    assert_eq!(lines.may_report("a", every, at(100)), Some(0));
    assert_eq!(lines.may_report("a", every, at(100)), None);
    assert_eq!(lines.may_report("b", every, at(101)), Some(0));
    assert_eq!(lines.may_report("a", every, at(109)), None);
    assert_eq!(lines.may_report("a", every, at(110)), Some(2));
    assert_eq!(lines.may_report("a", every, at(130)), Some(0));
    assert_eq!(lines.may_report("a", Duration::ZERO, at(130)), Some(0));
    // Another clock: nothing is known of the time between.
    assert_eq!(lines.may_report("a", every, at(7)), Some(0));
    assert_eq!(lines.may_report("a", every, at(8)), None);
}

#[test]
fn operations_beyond_the_bound_share_a_limit() {
    let every = Duration::from_secs(10);
    let now = Timestamp::from_origin(every);
    let mut lines = Lines(BTreeMap::new());
    for number in 0..OPERATIONS {
        let name = format!("operation {number}").leak();
        assert_eq!(lines.may_report(name, every, now), Some(0));
    }
    assert_eq!(lines.may_report("one more", every, now), Some(0));
    assert_eq!(lines.may_report("another", every, now), None);
    assert_eq!(lines.may_report("operation 7", every, now), None);
    assert_eq!(lines.0.len(), OPERATIONS + 1);
}

#[test]
fn the_next_line_says_how_many_were_left_out() {
    let facts = facts("tracing_left_out", None);
    let report = |times| {
        let lines = Kept::read(|| {
            for _ in 0..times {
                report::deliver(&Event::GaveUp(&facts, GiveUpReason::Attempts));
            }
        });
        lines
            .iter()
            .map(|(_, fields)| fields.get("left_out").cloned())
            .collect::<Vec<_>>()
    };
    assert_eq!(report(6), [None]);
    let mut seldom = facts.clone();
    seldom.telemetry = seldom.telemetry.give_up_interval(Duration::ZERO);
    let lines = Kept::read(|| report::deliver(&Event::GaveUp(&seldom, GiveUpReason::Attempts)));
    assert_eq!(lines[0].1["left_out"], "5");
}

#[test]
fn nothing_is_counted_that_nobody_would_read() {
    let facts = facts("tracing_unread", None);
    // Without a subscriber on this thread; another test's may be there.
    let mut quiet = facts.clone();
    quiet.telemetry = Telemetry::quiet();
    let lines = Kept::read(|| {
        report::deliver(&Event::GaveUp(&quiet, GiveUpReason::Attempts));
        report::deliver(&Event::GaveUp(&facts, GiveUpReason::Attempts));
    });
    assert_eq!(lines.len(), 1);
    assert!(!lines[0].1.contains_key("left_out"));
}

#[test]
fn a_span_says_whose_attempt_it_is() {
    let spans = Kept::read(|| {
        let _span = scope::request_blocking("r-9", || attempt_span("tracing_span", 2, Some(3)));
    });
    let expected = fields([
        ("operation", "tracing_span"),
        ("attempt", "2"),
        ("max", "3"),
        ("request_id", "r-9"),
    ]);
    assert_eq!(spans, [("attempt".to_owned(), expected)]);

    let spans = Kept::read(|| drop(attempt_span("tracing_span", 7, None)));
    let expected = fields([("operation", "tracing_span"), ("attempt", "7")]);
    assert_eq!(spans, [("attempt".to_owned(), expected)]);
}
