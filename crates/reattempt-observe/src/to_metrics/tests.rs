//! What a recorder gets of an event.

use std::collections::BTreeMap;
use std::time::Duration;

use metrics::with_local_recorder;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};

use super::*;
use crate::report;
use crate::support::{change, facts};
use reattempt_core::GiveUpReason;

/// Everything that is recorded: name and labels, and the value.
fn recorded(report: impl FnOnce()) -> BTreeMap<String, DebugValue> {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    with_local_recorder(&recorder, report);
    let all = snapshotter.snapshot().into_vec().into_iter();
    all.map(|(key, _, _, value)| {
        let key = key.key();
        let labels = key
            .labels()
            .map(|label| format!("{}={}", label.key(), label.value()));
        let labels: Vec<_> = labels.collect();
        (format!("{}{{{}}}", key.name(), labels.join(",")), value)
    })
    .collect()
}

fn counted<const N: usize>(counters: [(&str, u64); N]) -> BTreeMap<String, DebugValue> {
    let counters = counters.map(|(name, count)| (name.to_owned(), DebugValue::Counter(count)));
    counters.into()
}

#[test]
fn a_call_that_recovers() {
    let facts = facts("pay", None);
    let mut metrics = recorded(|| {
        report::deliver(&Event::AttemptFailed(&facts));
        report::deliver(&Event::Retry(&facts, Duration::from_millis(1500)));
        report::deliver(&Event::AttemptFailed(&facts));
        report::deliver(&Event::Retry(&facts, Duration::from_millis(250)));
        report::deliver(&Event::Recovered(&facts));
    });
    let delays = metrics.remove("retry_delay_seconds{operation=pay}");
    let delays = delays.map(|delays| format!("{delays:?}"));
    assert_eq!(delays.as_deref(), Some("Histogram([1.5, 0.25])"));
    assert_eq!(
        metrics,
        counted([
            ("retry_attempts_total{operation=pay}", 3),
            ("retry_calls_total{operation=pay,result=recovered}", 1),
            ("retry_failures_total{operation=pay,cause=throttled}", 2),
        ])
    );
}

#[test]
fn a_call_that_gives_up() {
    let facts = facts("pay", None);
    let metrics = recorded(|| {
        report::deliver(&Event::AttemptFailed(&facts));
        report::deliver(&Event::GaveUp(&facts, GiveUpReason::Permanent));
        // Turned away: no attempt.
        report::deliver(&Event::GaveUp(&facts, GiveUpReason::BreakerOpen));
        report::deliver(&Event::Dropped(&facts));
    });
    assert_eq!(
        metrics,
        counted([
            ("retry_attempts_total{operation=pay}", 1),
            ("retry_calls_total{operation=pay,result=dropped}", 1),
            ("retry_calls_total{operation=pay,result=gave_up}", 2),
            ("retry_failures_total{operation=pay,cause=throttled}", 1),
            ("retry_give_ups_total{operation=pay,reason=breaker_open}", 1),
            ("retry_give_ups_total{operation=pay,reason=permanent}", 1),
        ])
    );
}

#[test]
fn the_balance_of_a_budget() {
    let mut facts = facts("pay", None);
    let balance = |metrics: &BTreeMap<String, DebugValue>| {
        let balance = metrics.get("retry_budget_balance{operation=pay}");
        balance.map(|balance| format!("{balance:?}"))
    };
    let without = recorded(|| report::deliver(&Event::Retry(&facts, Duration::ZERO)));
    assert_eq!(balance(&without), None);
    facts.budget_balance = Some(7.5);
    let paid = recorded(|| report::deliver(&Event::Retry(&facts, Duration::ZERO)));
    assert_eq!(balance(&paid).as_deref(), Some("Gauge(7.5)"));
    facts.budget_balance = Some(0.0);
    let refused = recorded(|| report::deliver(&Event::GaveUp(&facts, GiveUpReason::Budget)));
    assert_eq!(balance(&refused).as_deref(), Some("Gauge(0.0)"));
}

#[test]
fn the_state_of_a_breaker() {
    let changes = [
        change("metrics_breaker", State::Closed, State::ForcedOpen, None),
        change(
            "metrics_breaker",
            State::ForcedOpen,
            State::ForcedClosed,
            None,
        ),
    ];
    let states = changes.iter().map(|change| {
        let metrics = recorded(|| report::deliver(&Event::BreakerChanged(change)));
        format!(
            "{:?}",
            metrics["retry_breaker_state{breaker=metrics_breaker}"]
        )
    });
    assert_eq!(states.collect::<Vec<_>>(), ["Gauge(2.0)", "Gauge(0.0)"]);
    assert_eq!(number(State::Closed).to_bits(), 0_f64.to_bits());
    assert_eq!(number(State::HalfOpen).to_bits(), 1_f64.to_bits());
    assert_eq!(number(State::Open).to_bits(), 2_f64.to_bits());
}

#[test]
fn every_metric_has_a_unit() {
    let facts = facts("pay", None);
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    with_local_recorder(&recorder, || {
        describe_metrics();
        report::deliver(&Event::AttemptFailed(&facts));
        report::deliver(&Event::Retry(&facts, Duration::from_secs(1)));
        report::deliver(&Event::Recovered(&facts));
    });
    let all = snapshotter.snapshot().into_vec();
    assert_eq!(all.len(), 4);
    for (key, unit, description, _) in all {
        let expected = match key.key().name() {
            "retry_delay_seconds" => Unit::Seconds,
            _ => Unit::Count,
        };
        assert_eq!(unit, Some(expected), "{key:?}");
        assert!(description.is_some(), "{key:?}");
    }
}

#[test]
fn copies_and_configurations_are_counted() {
    let facts = facts("pay", None);
    let metrics = recorded(|| {
        for event in [
            Event::CopyStarted(&facts, 1),
            Event::CopyStarted(&facts, 2),
            Event::HedgeWon(&facts, 0),
            Event::HedgeWon(&facts, 1),
            Event::HedgeWon(&facts, 2),
            Event::Reloaded { from: None },
            Event::ReloadRefused(&std::fmt::Error),
            Event::ReloadRefused(&std::fmt::Error),
            Event::TimeoutIgnored("pay"),
        ] {
            report::deliver(&event);
        }
    });
    assert_eq!(
        metrics,
        counted([
            ("retry_copies_total{operation=pay}", 2),
            ("retry_hedge_wins_total{operation=pay,winner=attempt}", 1),
            ("retry_hedge_wins_total{operation=pay,winner=copy}", 2),
            ("retry_reloads_total{result=loaded}", 1),
            ("retry_reloads_total{result=refused}", 2),
        ])
    );
}

/// The switch is one for the process, so tests of calls cannot turn it.
#[test]
fn the_gauge_follows_the_switch() {
    for (on, value) in [(false, 0.0), (true, 1.0)] {
        let metrics = recorded(|| report::deliver(&Event::RetriesSwitched { on }));
        let wanted = (
            "retry_enabled{}".to_owned(),
            DebugValue::Gauge(value.into()),
        );
        assert_eq!(metrics, [wanted].into());
    }
}
