//! Calls that run while the configuration changes.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex};

use reattempt::observe::{self, Event};
use reattempt::{GiveUpReason, RetryError, config, retry};

use crate::support::{File, install, ms, sync_turn, turn};

#[retry(policy = "running", max = 5, base = "10ms", jitter = "none", on(_), on_retry = |retry| seen.borrow_mut().push(retry.delay()))]
fn reloading(
    seen: &RefCell<Vec<std::time::Duration>>,
    calls: &Cell<u32>,
    mut change: impl FnMut(u32),
) -> Result<(), RetryError<String>> {
    calls.set(calls.get() + 1);
    change(calls.get());
    Err("no".to_owned())
}

#[test]
fn a_change_holds_from_the_next_decision_on() {
    let (_turn, _time) = sync_turn();
    let (seen, calls) = (RefCell::default(), Cell::new(0));
    let end = reloading(&seen, &calls, |call| match call {
        2 => install("[policies.running]\nbase = \"1s\"\n"),
        3 => install("[policies.running]\nmax = 4\n"),
        _ => {}
    });
    assert_eq!(end.unwrap_err().reason(), GiveUpReason::Attempts);
    assert_eq!(*seen.borrow(), [ms(10), ms(2000), ms(40)]);
    assert_eq!(calls.get(), 4);
}

#[retry(policy = "deadlines", max = 2, base = "10ms", jitter = "none", on(_))]
fn with_deadline(mut attempt: impl FnMut()) -> Result<(), RetryError<String>> {
    attempt();
    Err("no".to_owned())
}

#[test]
fn the_deadline_is_that_of_the_start() {
    let (_turn, time) = sync_turn();
    let with = |deadline: &str| {
        install(&format!(
            "[policies.deadlines]\nbase = \"10ms\"\n{deadline}\n"
        ));
    };
    let end_of_slow = |after: &str| {
        let end = with_deadline(|| {
            time.advance(ms(20));
            with(after);
        });
        end.unwrap_err().reason()
    };
    with("deadline = \"25ms\"");
    assert_eq!(end_of_slow("deadline = \"1h\""), GiveUpReason::Deadline);
    assert_eq!(end_of_slow("deadline = \"25ms\""), GiveUpReason::Attempts);
    assert_eq!(end_of_slow(""), GiveUpReason::Deadline);
    // And none, where there was none.
    assert_eq!(end_of_slow("deadline = \"25ms\""), GiveUpReason::Attempts);
    assert_eq!(end_of_slow(""), GiveUpReason::Deadline);
}

#[test]
fn times_follow_the_deadline_of_the_start() {
    let (_turn, time) = sync_turn();
    install("[policies.deadlines]\ndeadline = \"1m\"\n");
    let reported = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&reported);
    let observer = move |event: &Event<'_>| {
        if let Event::GaveUp(facts, _) = event {
            let times = (facts.elapsed(), facts.call_elapsed());
            seen.lock().unwrap().push(times);
        }
    };
    let end = observe::scope_blocking(Arc::new(observer), || {
        with_deadline(|| {
            time.advance(ms(20));
            install("[policies.deadlines]\nmax = 1\ndeadline = \"1h\"\n");
        })
    });
    assert_eq!(end.unwrap_err().attempts(), 1);
    assert_eq!(*reported.lock().unwrap(), [(Some(ms(20)), Some(ms(20)))]);
}

#[retry(policy = "timeouts", max = 3, on(_))]
async fn hanging(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    calls.set(calls.get() + 1);
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_the_file_cuts_off() {
    let _turn = turn();
    install("[policies.timeouts]\ntimeout = \"20ms\"\nmax = 2\n");
    let calls = Cell::new(0);
    let end = hanging(&calls).await.unwrap_err();
    assert!(end.is_timeout());
    assert_eq!((end.reason(), calls.get()), (GiveUpReason::Attempts, 2));
}

#[retry(policy = "timeouts", max = 3, on(_))]
async fn hanging_at_last(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    calls.set(calls.get() + 1);
    if calls.get() == 1 {
        install("[policies.timeouts]\ntimeout = \"20ms\"\nmax = 2\n");
        return Err("no".to_owned());
    }
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_timeout_that_comes_during_a_call_cuts_off_its_next_attempt() {
    let _turn = turn();
    // The first call looks for its policy; the second one begins without it, since it has no limit.
    for _ in 0..2 {
        install("");
        let calls = Cell::new(0);
        let call = tokio::time::timeout(ms(60_000), hanging_at_last(&calls));
        let end = call.await.expect("it does not hang").unwrap_err();
        assert!(end.is_timeout());
        assert_eq!((end.reason(), calls.get()), (GiveUpReason::Attempts, 2));
    }
}

#[retry(policy = "budgets", max = 6, base = "10ms", on(_))]
fn paying(mut attempt: impl FnMut() -> Result<(), String>) -> Result<(), RetryError<String>> {
    attempt()
}

#[test]
fn a_budget_of_the_file_is_paid_from_and_paid_back_to_that_of_the_start() {
    let (_turn, _time) = sync_turn();
    let with = |share: &str| install(&format!("[policies.budgets]\nbudget = {share}\n"));
    // The reserve of a budget allows some retries, and then none.
    with("0.25");
    let mut ends = Vec::new();
    for _ in 0..20 {
        ends.push(paying(|| Err("no".to_owned())).unwrap_err().reason());
    }
    assert!(ends.contains(&GiveUpReason::Budget), "{ends:?}");
    // Another budget while a call runs: the call stays with its own, which is empty.
    let mut is_first = true;
    let end = paying(|| {
        if std::mem::take(&mut is_first) {
            with("0.5");
        }
        Err("no".to_owned())
    });
    assert_eq!(end.unwrap_err().reason(), GiveUpReason::Budget);
    assert_eq!(
        paying(|| Err("no".to_owned())).unwrap_err().reason(),
        GiveUpReason::Attempts
    );
}

#[test]
fn the_same_file_changes_nothing() {
    let (_turn, _time) = sync_turn();
    let file = File::new("[policies.same]\nmax = 2\n");
    config::load(file.path()).unwrap();
    let loaded_at = config::status().loaded_at();
    assert!(loaded_at.is_some());
    assert_eq!(config::status().from(), Some(file.path()));
    config::reload().unwrap();
    assert_eq!(config::status().loaded_at(), loaded_at);
    file.replace("[policies.same]\nmax = 3\n");
    config::reload().unwrap();
    assert_eq!(config::policy("same").unwrap().attempts(), Some(3));
}

#[test]
fn a_file_that_is_cut_off_or_gone_leaves_what_was() {
    let (_turn, _time) = sync_turn();
    let file = File::new("[policies.cut]\nmax = 7\n# end\n");
    config::load(file.path()).unwrap();
    for text in [
        "[policies.cut]\nmax = 1",
        "[policies.cut]\n",
        "[policies.cut",
        "\u{0}\n",
    ] {
        file.write(text);
        assert!(config::reload().is_err(), "{text}");
        assert_eq!(config::policy("cut").unwrap().attempts(), Some(7), "{text}");
    }
    std::fs::remove_file(file.path()).unwrap();
    assert!(config::reload().is_err());
    assert_eq!(config::policy("cut").unwrap().attempts(), Some(7));
    file.write("[policies.cut]\nmax = 5\n# end\n");
    config::reload().unwrap();
    assert_eq!(config::policy("cut").unwrap().attempts(), Some(5));
}

/// What was loaded once is not taken for a write that was cut off.
#[test]
fn a_file_without_a_last_line_end_is_loaded_and_reloaded() {
    let (_turn, _time) = sync_turn();
    let file = File::new("[policies.short]\nmax = 7");
    config::load(file.path()).unwrap();
    config::reload().unwrap();
    assert_eq!(config::policy("short").unwrap().attempts(), Some(7));
    file.write("[policies.short]\nmax = 9");
    assert!(config::reload().is_err());
    assert_eq!(config::policy("short").unwrap().attempts(), Some(7));
}

#[test]
fn nothing_to_reload() {
    let (_turn, _time) = sync_turn();
    let faults = config::reload().unwrap_err();
    assert!(faults.to_string().contains("config::load"), "{faults}");
}

#[retry(policy = "lagging", max = 3, jitter = "none")]
fn lagging() -> std::io::Result<()> {
    Err(std::io::ErrorKind::NotFound.into())
}

/// A file says what an error means, too, and takes it back.
#[test]
fn a_file_has_a_table_of_codes() {
    let (_turn, time) = sync_turn();
    let waited = || {
        let before = time.elapsed();
        assert!(lagging().is_err());
        time.elapsed().saturating_sub(before)
    };
    assert_eq!(waited(), ms(0));
    install("[policies.lagging.codes]\nNotFound = { verdict = \"transient\", base = \"2s\" }\n");
    assert_eq!(waited(), ms(6_000));
    install("[operations.\"live::calls::lagging\"]\ncodes = { NotFound = \"throttled\" }\n");
    assert_eq!(waited(), ms(3_000));
    install("");
    assert_eq!(waited(), ms(0));
}
