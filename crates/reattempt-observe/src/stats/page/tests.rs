//! The markup; `tests/page.rs` of the facade looks at it in a browser.

use std::time::UNIX_EPOCH;

use crate::support::facts;
use crate::{ErrorText, Event, report};
use reattempt_core::GiveUpReason;

use super::*;

/// What is counted of this operation alone.
fn row_of(operation: &'static str, error: &str) -> String {
    let error = ErrorText::new(&(), Some(error.to_owned()));
    let call = facts(operation, Some(&error));
    report(&Event::AttemptFailed(&call));
    report(&Event::GaveUp(&call, GiveUpReason::BreakerOpen));
    row(&stats(), operation)
}

fn row(stats: &Stats, operation: &str) -> String {
    let mut row = String::new();
    write_row(&mut row, stats.operation(operation).expect("it is there")).expect("it is there");
    row
}

#[test]
fn hostile_texts_are_text() {
    let name = "<script>alert('name')</script>";
    let row = row_of(
        name,
        "\"><img src=x onerror=alert(1)>&amp;\0\u{1b}[2J\u{202e}txt\nnext",
    );
    assert!(
        row.contains("&lt;script&gt;alert(&#39;name&#39;)&lt;/<wbr>script&gt;<wbr>"),
        "{row}"
    );
    let message =
        "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&amp;amp;\u{fffd}\u{fffd}[2J\u{fffd}txt\nnext";
    assert!(
        row.contains(&format!(r#"<p class="message">{message}</p>"#)),
        "{row}"
    );
    assert!(!row.contains("<script") && !row.contains("<img"));
}

#[test]
fn a_row_has_the_numbers_and_reasons() {
    let row = row_of("page_numbers", "503");
    assert!(row.contains(r#"data-label="Calls">1</td>"#), "{row}");
    assert!(
        row.contains(r#"data-label="Gave up">1<ul><li>breaker open 1</li></ul></td>"#),
        "{row}"
    );
    assert!(
        row.contains(r#"<time datetime="2009-02-13T23:31:30.123Z">2009-02-13 23:31:30 UTC</time>"#),
        "{row}"
    );
    assert!(row.contains("width:0%"), "{row}");
    report(&Event::Recovered(&facts("page_numbers", None)));
    assert!(self::row(&stats(), "page_numbers").contains("width:50%"));
}

#[test]
fn numbers_are_in_groups() {
    let grouped = |number| Grouped(number).to_string();
    assert_eq!(grouped(0), "0");
    assert_eq!(grouped(999), "999");
    assert_eq!(grouped(1_000), "1,000");
    assert_eq!(grouped(12_345_678), "12,345,678");
}

#[test]
fn nothing_has_failed() {
    let nothing = Stats::empty(UNIX_EPOCH);
    let shown = page(&nothing, None);
    assert!(shown.contains("Nothing has failed since the start."));
    assert!(!shown.contains("<table") && !shown.contains("refresh"));
    let shown = page(&nothing, Some(1));
    assert!(shown.contains(r#"<meta http-equiv="refresh" content="1">"#));
}

#[test]
fn it_needs_nothing_else() {
    let page = stats_page(None);
    for outside in ["<script", "http://", "https://", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    for opened in ["html", "head", "body", "main", "header", "style"] {
        assert_eq!(page.matches(&format!("</{opened}>")).count(), 1, "{opened}");
    }
}

#[test]
fn breakers_have_a_table() {
    use crate::breaker::{Name, State};

    let breaker = BreakerStats {
        name: Name::Static("<pay>"),
        state: State::ForcedOpen,
        state_time: None,
        calls: 2_000,
        failures: 12,
        slow_calls: 3,
    };
    let mut page = String::new();
    write_breakers(&mut page, &[breaker]).expect("it is a string");
    for part in [
        "&lt;pay&gt;<wbr></th>",
        r#"data-label="State">forced open</td>"#,
        r#"data-label="Calls">2,000</td>"#,
        r#"data-label="Failures">12</td>"#,
        r#"data-label="Slow calls">3</td>"#,
        r#"data-label="Since">the start</td>"#,
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
}
