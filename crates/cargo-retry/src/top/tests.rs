use std::time::Duration;

use super::http::Address;
use super::screen::{status, text};
use super::stats::Stats;
use super::{KeyCode, KeyEvent, KeyModifiers, quits};
use crate::plot::Look;

const LOOK: Look = Look {
    width: 100,
    height: 0,
    colours: false,
    ascii: true,
};

fn address() -> Address {
    Address::parse("shop:9090").unwrap_or_else(|fault| panic!("{fault}"))
}

fn stats(operations: &str) -> Stats {
    let json = format!(
        r#"{{"at": "2026-03-01T12:00:00.000Z", "operations": [{operations}], "breakers": [
            {{"breaker": "closed one", "state": "closed", "state_time": null, "calls": 20, "failures": 9, "slow_calls": 0}},
            {{"breaker": "open one", "state": "half_open", "state_time": 61.2, "calls": 20, "failures": 1, "new": 1}}]}}"#
    );
    Stats::read(json.as_bytes(), &address()).unwrap_or_else(|fault| panic!("{fault}"))
}

fn operation(name: &str, retries: u64, gave_up: u64) -> String {
    format!(
        r#"{{"operation": "{name}", "calls": 1234, "failed_attempts": 3, "retries": {retries}, "recovered": 1, "gave_up": {gave_up},
            "give_ups": {{"retry_after_too_long": {gave_up}}}, "delay": 0.5,
            "last_error": {{"type": "io::Error", "message": "a\u001b[31m\nb", "at": "2026-03-01T12:00:00Z"}}}}"#
    )
}

fn place(text: &str, words: &str) -> usize {
    text.find(words)
        .unwrap_or_else(|| panic!("{words}\n{text}"))
}

#[test]
fn the_worst_is_first() {
    let now = stats(&[operation("a", 10, 2), operation("b", 5, 7)].join(","));
    let once = text(&now, None, LOOK);
    assert!(place(&once, "| b ") < place(&once, "| a "), "{once}");
    assert!(place(&once, "open one") < place(&once, "closed one"));
    assert!(
        once.starts_with("Retries since the start of the process, at 2026-03-01 12:00:00 UTC\n")
    );
    assert!(once.contains("| half open") && once.contains("1 m 1 s"));
    assert!(once.contains(
        "2,468 calls did not succeed at once: 2 recovered, 9 gave up, 0 dropped; 15 retries"
    ));
    assert!(
        once.contains("retry after too long 7") && !once.contains("retries/s"),
        "{once}"
    );
    assert!(
        !once.contains('\u{1b}') && once.contains("io::Error: a"),
        "{once}"
    );
    // What gives up now comes before what did.
    let before = stats(&[operation("a", 0, 0), operation("b", 5, 7)].join(","));
    let later = text(&now, Some((&before, Duration::from_secs(4))), LOOK);
    assert!(place(&later, "| a ") < place(&later, "| b "), "{later}");
    assert!(
        later.contains("2.5 |") && later.contains("0.5 |"),
        "{later}"
    );
}

#[test]
fn a_process_that_started_again_counts_anew() {
    let (before, now) = (stats(&operation("a", 100, 9)), stats(&operation("a", 8, 2)));
    let text = text(&now, Some((&before, Duration::from_secs(2))), LOOK);
    assert!(text.contains("4.0 |") && text.contains("1.0 |"), "{text}");
}

#[test]
fn tables_are_no_wider_than_the_terminal() {
    let now = stats(&operation(
        "shop::orders::with::a::long::path::to::it",
        10,
        2,
    ));
    for (width, ascii) in [(40, true), (80, false), (110, false)] {
        let look = Look {
            width,
            ascii,
            ..LOOK
        };
        let text = text(&now, Some((&now, Duration::ZERO)), look);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width.into()), "{widest:?}\n{text}");
        assert_eq!(text.is_ascii(), ascii);
    }
}

#[test]
fn what_is_not_the_statistics_is_refused_with_a_fix() {
    for (body, words) in [
        ("<!doctype html>", "serves a page, not the JSON"),
        ("[1]", "does not serve the statistics as JSON"),
        ("", "does not serve the statistics as JSON"),
    ] {
        let fault = Stats::read(body.as_bytes(), &address()).err();
        let fault = fault.map(|it| it.to_string()).unwrap_or_default();
        assert!(
            fault.contains(words) && fault.contains("give that path"),
            "{fault}"
        );
    }
}

#[test]
fn the_status_says_how_old_the_numbers_are() {
    let say = |fault, ago| status(&address(), Duration::from_secs(2), fault, ago);
    assert_eq!(
        say(None, None),
        "http://shop:9090/retries.json, every 2 s; q quits"
    );
    let old = say(Some("no route"), Some(Duration::from_millis(3900)));
    assert_eq!(old, "these numbers are 3 s old: no route; q quits");
    assert_eq!(say(Some("no route"), None), "no route; q quits");
}

#[test]
fn q_and_control_c_quit() {
    let key = |code, modifiers| quits(KeyEvent::new(code, modifiers));
    assert!(key(KeyCode::Char('q'), KeyModifiers::NONE));
    assert!(key(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert!(!key(KeyCode::Char('c'), KeyModifiers::NONE));
    assert!(!key(KeyCode::Enter, KeyModifiers::NONE));
}

#[test]
fn counters_of_any_size_are_shown() {
    let many = stats(&[operation("a", u64::MAX, 2), operation("b", 5, 7)].join(","));
    let shown = text(&many, None, LOOK);
    assert!(
        shown.contains("; 18,446,744,073,709,551,615\nretries"),
        "{shown}"
    );
    // Both tables, one after the other.
    text(&many, Some((&many, Duration::from_secs(4))), LOOK);
}
