//! The sentences say what the numbers say.

use super::*;
use crate::storm::meaning::sentences;
use crate::storm::table::after;

fn said(play: &Play) -> String {
    sentences(play).join(" ")
}

/// As long as it is by itself.
fn long(line: &str) -> Play {
    let arguments = typed(line).expect("it can be typed");
    played(&arguments).expect("it can be played").0
}

#[track_caller]
fn says(line: &str, words: &[&str]) -> Play {
    let play = play(line);
    let said = said(&play);
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
    play
}

#[test]
fn a_storm_goes_on_and_has_a_fix() {
    let play = says(
        "'max = 4, budget = \"none\"'",
        &[
            "does not come back within the run",
            "With this policy, too, the server is still overloaded at the end",
            "and 0 calls succeed",
        ],
    );
    let said = said(&play);
    let without = after(play.never.summary.recovered.expect("it is"));
    assert!(said.contains(&format!(
        "without retries it is back {without} after the outage"
    )));
    for fix in &play.fixes {
        let back = fix.summary.recovered.map(after);
        let claim = format!(
            "(`{}`) it is back {}",
            fix.how,
            back.clone().unwrap_or_default()
        );
        assert_eq!(said.contains(&claim), back.is_some(), "{said}");
    }
    let load = format!("come to {:.0} attempts", play.rival.summary.peak_load);
    assert!(said.contains(&load));
}

#[test]
fn calls_that_go_on_for_ever_have_not_succeeded() {
    let play = play("'max = 10, base = \"1s\", cap = \"5m\", budget = \"none\"'");
    let summary = play.asked.summary;
    assert!(summary.open > 0.5 && summary.succeeded < 0.5, "{summary:?}");
    assert!(summary.median > std::time::Duration::from_secs(10));
}

#[test]
fn a_queue_that_shrinks_slowly_is_no_storm() {
    let play = says(
        "'max = 4, budget = 0.1' --load 110",
        &["shrinks by", "a second only", "`floor`"],
    );
    assert_eq!(play.asked.summary.recovered, None);
    assert!(!said(&play).contains("overloaded"));
}

#[test]
fn a_floor_that_is_too_high_has_a_fix() {
    let line = "'max = 4, budget = BUDGET' --load 280 --capacity 300";
    let chain = "Budget::per_success(0.1).floor(0.0)";
    for floored in ["0.1", "Budget::per_success(0.1)"] {
        let play = long(&line.replace("BUDGET", floored));
        let said = said(&play);
        assert_eq!(play.asked.summary.recovered, None);
        let fix = play.fixes.first().expect("there is one");
        assert_eq!(fix.how, format!("budget = {chain}"));
        let back = after(fix.summary.recovered.expect("it is"));
        let claim = format!("With a floor of 0 (`budget = {chain}`) it is back {back}");
        assert!(said.contains(&claim), "{said}");
        assert!(said.contains("in 10 processes that is 10, and the queue could shrink by 20"));
        // It is the same where somebody follows the advice.
        let fixed = long(&line.replace("BUDGET", chain)).asked.summary;
        assert_eq!(fixed.recovered, fix.summary.recovered);
    }
}

/// Those of all services of a chain.
#[test]
fn the_floors_of_all_processes_are_counted() {
    let mut play = play("'max = 3, budget = 0.1' --chain 3 --clients 4");
    play.asked.summary.recovered = None;
    assert!(said(&play).contains("in 12 processes that is 12, and the queue could shrink by 20"));
}

#[test]
fn a_policy_that_is_well_says_so() {
    let play = says("'max = 4, breaker = &B'", &["sooner than without retries"]);
    assert!(play.asked.summary.recovered < play.never.summary.recovered);
    assert!(play.fixes.is_empty());
    let play = says(
        "'max = 4' --budget 0.02 --clients 1",
        &["the goodput is back"],
    );
    assert!(play.asked.summary.recovered.is_some());
    says(
        "'max = 4' --drop-stale --budget 0.1 --clients 1",
        &["no later than without retries"],
    );
    says("'idempotent = false'", &["does what no retry does"]);
    says(
        "'idempotent = false' --outage 100ms",
        &["does what no retry does"],
    );
    let play = says(
        "'max = 1' --chain 3",
        &["With the protocol the goodput is back"],
    );
    assert!(!said(&play).contains("does what no retry does"));
    says("'max = 1'", &["does what no retry does"]);
}

#[test]
fn a_server_that_is_too_small_is_no_matter_of_retries() {
    says(
        "--load 130",
        &[
            "130 calls a second are no less than the 120",
            "without any retry",
        ],
    );
    says(
        "--load 119",
        &[
            "Not even without retries",
            "shrinks by 1 a second only",
            "not back either",
        ],
    );
}

#[test]
fn what_nobody_feels_is_said() {
    for line in [
        "--outage 100ms",
        "--slowdown 5s --to 0.95",
        "--burst 5s --times 1.1",
    ] {
        let play = says(line, &["is hardly felt"]);
        assert!(play.fixes.is_empty());
        assert!(text(&play).contains("hardly felt"));
    }
    says(
        "--outage 1s --drop-stale --capacity 1000 --timeout 2s",
        &["`--outage 10s`"],
    );
}
