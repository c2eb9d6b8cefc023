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
fn a_page_has_a_table_of_what_there_is() {
    use crate::breaker::{Name, State};

    let mut stats = Stats::empty(UNIX_EPOCH);
    stats.breakers.push(BreakerStats {
        name: Name::Static("pay"),
        state: State::Open,
        state_time: Some(Duration::from_millis(2_500)),
        calls: 2,
        failures: 1,
        slow_calls: 0,
    });
    let shown = page(&stats, None);
    assert!(
        shown.contains("Nothing has failed") && shown.contains(r#"data-label="Since">2.5 s</td>"#)
    );
    let mut failed = OperationStats::new("page_whole");
    (failed.retries, failed.recoveries, failed.delay) = (1_234, 2, Duration::from_secs(90));
    failed.causes.push((RetryCause::NotFinal, 1_234));
    stats.operations.push(failed);
    let shown = page(&stats, None);
    for part in [
        "<dt>Calls that did not succeed at once</dt><dd>2</dd>",
        "<dt>Recovered</dt><dd>2</dd>",
        "<dt>Gave up</dt><dd>0</dd>",
        "<dt>Retries</dt><dd>1,234</dd>",
        r#"data-label="Retries">1,234<ul><li>not final 1,234</li></ul></td>"#,
        r#"data-label="Delay">1 m 30 s</td>"#,
        r#"data-label="Last error">none</td>"#,
        "page_<wbr>whole<wbr>",
        "width:100%",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(!shown.contains("Nothing has failed"));
    assert_eq!(
        (
            Share(1, 0).to_string(),
            Share(1, 3).to_string().contains("33 % recovered")
        ),
        (String::new(), true)
    );
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
    for (millis, seconds) in [(0, 1), (999, 1), (1_999, 1), (7_000, 7)] {
        let shown = stats_page(Some(Duration::from_millis(millis)));
        let refresh = format!(r#"http-equiv="refresh" content="{seconds}">"#);
        assert!(shown.contains(&refresh), "{millis}");
    }
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
