//! What is counted, and how it is written.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::count::Operations;
use super::words::{OneLine, rounded};
use super::{OperationStats, Stats};
use crate::event::{CallInfo, Event};
use crate::support::{error_text, facts};
use reattempt_core::{GiveUpReason, RetryCause};

const AT: SystemTime = UNIX_EPOCH;

fn of(operations: &Operations) -> Stats {
    operations.snapshot(AT)
}

/// Two calls: one that recovers after two failures, one that gives up.
fn two_calls(operations: &Operations) {
    let error = error_text("503 from shop");
    let facts = facts("shop.pay", Some(&error));
    for event in [
        Event::AttemptFailed(&facts),
        Event::Retry(&facts, Duration::from_millis(100)),
        Event::AttemptFailed(&facts),
        Event::Retry(&facts, Duration::from_millis(150)),
        Event::Recovered(&facts),
        Event::AttemptFailed(&facts),
        Event::GaveUp(&facts, GiveUpReason::Deadline),
    ] {
        operations.report(&event);
    }
}

#[test]
fn a_sum_is_that_of_all_operations() {
    let operations = Operations::new();
    assert_eq!(of(&operations).sum(OperationStats::retries), 0);
    two_calls(&operations);
    let other = facts("shop.ship", None);
    operations.report(&Event::Retry(&other, Duration::ZERO));
    let stats = of(&operations);
    assert_eq!(stats.sum(OperationStats::retries), 3);
    assert_eq!(stats.sum(OperationStats::gave_up), 1);
    assert_eq!((other.max(), other.attempt()), (Some(4), 2));
}

#[test]
fn calls_are_those_that_ended_after_a_failure() {
    let operations = Operations::new();
    assert!(of(&operations).is_empty());
    two_calls(&operations);
    let stats = of(&operations);
    assert_eq!((stats.at(), stats.operations().len()), (AT, 1));
    let pay = stats.operation("shop.pay").expect("it is there");
    assert_eq!((pay.calls(), pay.failed_attempts()), (2, 3));
    assert_eq!((pay.retries(), pay.recoveries(), pay.gave_up()), (2, 1, 1));
    assert_eq!(pay.causes(), [(RetryCause::Throttled, 2)]);
    assert_eq!(pay.give_ups(), [(GiveUpReason::Deadline, 1)]);
    assert_eq!(pay.delay(), Duration::from_millis(250));
    let error = pay.last_error().expect("it is there");
    assert_eq!(error.error_type(), "shop::Unavailable");
    assert_eq!(error.message(), Some("503 from shop"));
    assert_eq!(error.at(), facts("", None).ended_at());
    assert!(stats.operation("shop").is_none());
}

#[test]
fn copies_and_dropped_calls_are_counted() {
    let operations = Operations::new();
    let facts = facts("hedged", None);
    for event in [
        Event::CopyStarted(&facts, 1),
        Event::CopyStarted(&facts, 2),
        Event::CopyStarted(&facts, 1),
        Event::HedgeWon(&facts, 0),
        Event::HedgeWon(&facts, 1),
        Event::HedgeWon(&facts, 2),
        Event::Dropped(&facts),
        Event::TimeoutIgnored("hedged"),
    ] {
        operations.report(&event);
    }
    let stats = of(&operations);
    let hedged = stats.operation("hedged").expect("it is there");
    assert_eq!((hedged.copies(), hedged.copies_won()), (3, 2));
    assert_eq!(
        (hedged.dropped(), hedged.calls(), hedged.name()),
        (1, 1, "hedged")
    );
    assert!(!stats.is_empty() && Stats::empty(AT).is_empty());
    assert!(stats.breakers().is_empty());
}

#[test]
fn reasons_are_counted_each_by_itself() {
    let operations = Operations::new();
    let facts = facts("reasons", None);
    for reason in [
        GiveUpReason::Throttle,
        GiveUpReason::Budget,
        GiveUpReason::Throttle,
    ] {
        operations.report(&Event::GaveUp(&facts, reason));
    }
    let stats = of(&operations);
    let reasons = stats.operations()[0].give_ups();
    assert_eq!(
        reasons,
        [(GiveUpReason::Budget, 1), (GiveUpReason::Throttle, 2)]
    );
    // No attempt failed: nobody has an error.
    assert!(stats.operations()[0].last_error().is_none());
}

#[test]
fn the_last_error_stays_where_a_later_failure_has_none() {
    let operations = Operations::new();
    two_calls(&operations);
    let nothing = facts("shop.pay", None);
    operations.report(&Event::AttemptFailed(&nothing));
    assert!(of(&operations).operations()[0].last_error().is_some());
}

#[test]
fn messages_are_cut_off_between_characters() {
    let operations = Operations::new();
    let error = error_text(&"ä€😀".repeat(400));
    operations.report(&Event::AttemptFailed(&facts("long", Some(&error))));
    let stats = of(&operations);
    let message = stats.operations()[0]
        .last_error()
        .expect("it is there")
        .message();
    assert_eq!(message.expect("it is there").chars().count(), 500);
    assert!(message.expect("it is there").ends_with("ä€"));
}

#[test]
fn operations_are_in_order_and_bounded() {
    let operations = Operations::new();
    for number in (0..1200).rev() {
        let name: &'static str = format!("operation {number:04}").leak();
        operations.report(&Event::Recovered(&facts(name, None)));
    }
    // One that is known keeps its own numbers.
    operations.report(&Event::Recovered(&facts("operation 1199", None)));
    let stats = of(&operations);
    assert_eq!(stats.operations().len(), 1001);
    let names = stats.operations().iter().map(OperationStats::name);
    assert!(names.is_sorted());
    assert_eq!(
        stats
            .operation("(others)")
            .expect("it is there")
            .recoveries(),
        200
    );
    assert_eq!(
        stats
            .operation("operation 1199")
            .expect("it is there")
            .recoveries(),
        2
    );
}

#[test]
fn threads_lose_nothing() {
    let operations = Operations::new();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    two_calls(&operations);
                }
            });
        }
    });
    let stats = of(&operations);
    let pay = &stats.operations()[0];
    assert_eq!((pay.failed_attempts(), pay.calls()), (6000, 4000));
    assert_eq!(pay.delay(), Duration::from_secs(500));
}

#[test]
fn a_panic_leaves_it_usable() {
    let operations = Operations::new();
    two_calls(&operations);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        operations.panic_while_locked("shop.pay");
    }));
    assert!(panicked.is_err());
    two_calls(&operations);
    assert_eq!(of(&operations).operations()[0].calls(), 4);
    operations.reset();
    assert!(of(&operations).is_empty());
}

#[test]
fn a_table_reads_well() {
    let operations = Operations::new();
    assert_eq!(
        of(&operations).to_string(),
        "nothing has failed since the start"
    );
    two_calls(&operations);
    let long = facts("a.much.longer.name", None);
    operations.report(&Event::Retry(&long, Duration::from_secs(90)));
    operations.report(&Event::GaveUp(&long, GiveUpReason::Budget));
    operations.report(&Event::GaveUp(&long, GiveUpReason::Attempts));
    operations.report(&Event::Dropped(&long));
    assert_eq!(
        of(&operations).to_string(),
        "\
operation           calls  failed attempts  retries          recovered  gave up                   dropped     delay  last error
a.much.longer.name      3                0  1 (throttled 1)          0  2 (attempts 1, budget 1)        1  1 m 30 s  -
shop.pay                2                3  2 (throttled 2)          1  1 (deadline 1)                  0    250 ms  2009-02-13T23:31:30.123Z shop::Unavailable: 503 from shop"
    );
}

#[test]
fn a_table_has_a_line_for_each_whatever_errors_say() {
    let operations = Operations::new();
    let error = error_text("\u{1b}[31mred\nnext\r\u{202e}dlrow");
    operations.report(&Event::AttemptFailed(&facts("hostile", Some(&error))));
    let table = of(&operations).to_string();
    assert_eq!(table.lines().count(), 2);
    assert!(
        table.ends_with(": \u{fffd}[31mred next\u{fffd}\u{fffd}dlrow"),
        "{table}"
    );
}

/// The ends of each range of characters that turn or hide the text around them.
#[test]
fn a_character_that_only_stands_for_itself_is_harmless() {
    use super::words::is_harmless;
    for (first, last) in [
        ('\u{200B}', '\u{200F}'),
        ('\u{2028}', '\u{202E}'),
        ('\u{2060}', '\u{2069}'),
        ('\u{FEFF}', '\u{FEFF}'),
        ('\u{7F}', '\u{9F}'),
    ] {
        let beside = |c: char, by: i32| char::from_u32(u32::from(c).wrapping_add_signed(by));
        assert!(!is_harmless(first) && !is_harmless(last), "{first:?}");
        let sides = [beside(first, -1), beside(last, 1)];
        assert!(sides.into_iter().flatten().all(is_harmless), "{first:?}");
    }
}

#[test]
fn what_is_long_is_cut_off() {
    assert_eq!(OneLine("abcdef", 6).to_string(), "abcdef");
    assert_eq!(OneLine("abcdefg", 6).to_string(), "abcdef...");
}

#[test]
fn durations_are_as_exact_as_they_need_be() {
    let human = |nanos| rounded(Duration::from_nanos(nanos)).to_string();
    assert_eq!(human(0), "0 s");
    assert_eq!(human(999), "999 ns");
    assert_eq!(human(1_999), "1 us");
    assert_eq!(human(15_678_901), "15 ms");
    assert_eq!(human(1_567_890_123), "1.56 s");
    assert_eq!(human(15_678_901_234), "15.6 s");
    assert_eq!(human(3_661_999_999_999), "1 h 1 m 1 s");
    assert_eq!([999_999, 1_000_000].map(human), ["999 us", "1 ms"]);
    assert_eq!(
        [999_999_999, 1_019_999_999].map(human),
        ["999 ms", "1.01 s"]
    );
    assert_eq!(
        [9_999_999_999, 10_199_999_999].map(human),
        ["9.99 s", "10.1 s"]
    );
    assert_eq!(
        [59_999_999_999, 60_900_000_000].map(human),
        ["59.9 s", "1 m"]
    );
}

#[test]
fn json_has_this_shape() {
    let operations = Operations::new();
    two_calls(&operations);
    let silent: CallInfo<'_> = facts("silent", None);
    operations.report(&Event::Recovered(&silent));
    let expected = serde_json::json!({
        "at": "1970-01-01T00:00:00.000Z", "breakers": [],
        "operations": [
            {
                "operation": "shop.pay",
                "calls": 2,
                "failed_attempts": 3,
                "retries": 2,
                "causes": { "throttled": 2 },
                "recovered": 1,
                "copies": 0,
                "copies_won": 0,
                "gave_up": 1,
                "dropped": 0,
                "give_ups": { "deadline": 1 },
                "delay": 0.25,
                "last_error": {
                    "type": "shop::Unavailable",
                    "message": "503 from shop",
                    "at": "2009-02-13T23:31:30.123Z",
                },
            },
            {
                "operation": "silent",
                "calls": 1,
                "failed_attempts": 0,
                "retries": 0,
                "causes": {},
                "recovered": 1,
                "copies": 0,
                "copies_won": 0,
                "gave_up": 0,
                "dropped": 0,
                "give_ups": {},
                "delay": 0.0,
                "last_error": null,
            },
        ],
    });
    assert_eq!(
        serde_json::to_value(of(&operations)).expect("it is there"),
        expected
    );
}

#[test]
fn events_of_the_process_are_counted() {
    let facts = facts("stats_of_the_process", None);
    crate::report::deliver(&Event::Recovered(&facts));
    let stats = super::stats();
    assert_eq!(
        stats
            .operation("stats_of_the_process")
            .expect("it is there")
            .calls(),
        1
    );
    assert!(stats.at() > UNIX_EPOCH);
}

/// As they are when somebody looks.
#[test]
fn added_breakers_are_shown() {
    use crate::breaker::{BreakerStats, Name, State};
    use std::sync::atomic::{AtomicU64, Ordering};

    static CALLS: AtomicU64 = AtomicU64::new(1);
    super::add_breakers(|show| {
        show(BreakerStats {
            name: Name::Static("breaker_of_a_test"),
            state: State::Closed,
            state_time: None,
            calls: CALLS.load(Ordering::Relaxed),
            failures: 0,
            slow_calls: 0,
        });
    });
    for calls in [1, 2] {
        CALLS.store(calls, Ordering::Relaxed);
        let stats = super::stats();
        let mut shown = stats.breakers().iter();
        let shown = shown.find(|breaker| breaker.name() == "breaker_of_a_test");
        assert_eq!(shown.map(BreakerStats::calls), Some(calls));
    }
}

#[test]
fn breakers_stand_below_the_operations() {
    use crate::breaker::{BreakerStats, Name, State};

    let operations = Operations::new();
    two_calls(&operations);
    let breaker = BreakerStats {
        name: Name::Static("payments"),
        state: State::HalfOpen,
        state_time: Some(Duration::from_millis(2_500)),
        calls: 20,
        failures: 12,
        slow_calls: 0,
    };
    let mut stats = of(&operations);
    stats.breakers = vec![breaker];
    let table = stats.to_string();
    let (_, table) = table.split_once("\n\n").expect("there are two tables");
    assert_eq!(
        table,
        "breaker   state      calls  failures  slow  since\npayments  half_open     20        12     0  2.5 s"
    );
    stats.operations.clear();
    let table = stats.to_string();
    assert!(table.starts_with("nothing has failed since the start\n\nbreaker "));
    let json = serde_json::to_value(&stats).expect("it is a value");
    assert_eq!(
        json["breakers"][0],
        serde_json::json!({
            "breaker": "payments", "state": "half_open", "state_time": 2.5,
            "calls": 20, "failures": 12, "slow_calls": 0,
        })
    );
}
