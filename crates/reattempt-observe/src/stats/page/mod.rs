//! The statistics as a page of HTML, for the admin server of a service: a table of all operations that were retried, without
//! scripts, fonts or files.

use core::fmt::{self, Write as _};
use std::time::{Duration, SystemTime};

use super::words::{is_harmless, rounded};
use super::{LastError, OperationStats, Stats, stats};
use crate::breaker::BreakerStats;
use crate::time::rfc3339;
use reattempt_core::{GiveUpReason, RetryCause};

const STYLE: &str = include_str!("style.css");

/// Returns the statistics of the process as a page of HTML, to be served as `text/html; charset=utf-8`: a table, for screens
/// of any width, in light or dark. With `refresh` the browser loads it again in this time.
///
/// The page loads nothing and runs nothing, also where an operation or an error is named after a script; its own content
/// security policy says so. A server that sends one of its own has to allow inline styles.
///
/// # Units and ranges
///
/// `refresh` counts whole seconds, at least 1.
///
/// # Examples
///
/// ```
/// let page = reattempt::observe::stats_page(None);
/// assert!(page.starts_with("<!doctype html>"));
/// ```
pub fn stats_page(refresh: Option<Duration>) -> String {
    page(&stats(), refresh.map(|every| every.as_secs().max(1)))
}

fn page(stats: &Stats, refresh: Option<u64>) -> String {
    let mut page = String::new();
    // Nothing can go wrong while a `String` is written to.
    let _ = write_page(&mut page, stats, refresh);
    page
}

fn write_page(page: &mut String, stats: &Stats, refresh: Option<u64>) -> fmt::Result {
    page.push_str(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
"#,
    );
    if let Some(seconds) = refresh {
        writeln!(page, r#"<meta http-equiv="refresh" content="{seconds}">"#)?;
    }
    write!(
        page,
        r#"<title>Retries</title>
<link rel="icon" href="data:,">
<style>
{STYLE}</style>
</head>
<body>
<main>
<header>
<h1>Retries</h1>
<p>Since the start of the process, until {}</p>
</header>
"#,
        Time(stats.at())
    )?;
    if stats.is_empty() {
        page.push_str("<p class=\"empty\">Nothing has failed since the start.</p>\n");
    } else {
        write_sums(page, stats)?;
        write_table(page, stats.operations())?;
    }
    if !stats.breakers().is_empty() {
        write_breakers(page, stats.breakers())?;
    }
    page.push_str("</main>\n</body>\n</html>\n");
    Ok(())
}

fn write_sums(page: &mut String, stats: &Stats) -> fmt::Result {
    page.push_str("<dl>\n");
    for (name, count) in [
        (
            "Calls that did not succeed at once",
            stats.sum(OperationStats::calls),
        ),
        ("Recovered", stats.sum(OperationStats::recoveries)),
        ("Gave up", stats.sum(OperationStats::gave_up)),
        ("Retries", stats.sum(OperationStats::retries)),
    ] {
        writeln!(
            page,
            "<div><dt>{name}</dt><dd>{}</dd></div>",
            Grouped(count)
        )?;
    }
    page.push_str("</dl>\n");
    Ok(())
}

// The roles are those that the elements have anyway: browsers forget them where the table is shown as cards.
fn write_table(page: &mut String, operations: &[OperationStats]) -> fmt::Result {
    page.push_str(
        r#"<table role="table">
<caption>By operation. A call is counted when it ends after a failure.</caption>
<thead role="rowgroup">
<tr role="row"><th scope="col" role="columnheader">Operation</th><th scope="col" role="columnheader" class="number">Calls</th><th scope="col" role="columnheader" class="number">Failed attempts</th><th scope="col" role="columnheader" class="number">Retries</th><th scope="col" role="columnheader" class="number">Recovered</th><th scope="col" role="columnheader" class="number">Gave up</th><th scope="col" role="columnheader" class="number">Delay</th><th scope="col" role="columnheader">Last error</th></tr>
</thead>
<tbody role="rowgroup">
"#,
    );
    for operation in operations {
        write_row(page, operation)?;
    }
    page.push_str("</tbody>\n</table>\n");
    Ok(())
}

fn write_breakers(page: &mut String, breakers: &[BreakerStats]) -> fmt::Result {
    page.push_str(
        r#"<table role="table">
<caption>By breaker: the calls in its window.</caption>
<thead role="rowgroup">
<tr role="row"><th scope="col" role="columnheader">Breaker</th><th scope="col" role="columnheader">State</th><th scope="col" role="columnheader" class="number">Calls</th><th scope="col" role="columnheader" class="number">Failures</th><th scope="col" role="columnheader" class="number">Slow calls</th><th scope="col" role="columnheader" class="number">Since</th></tr>
</thead>
<tbody role="rowgroup">
"#,
    );
    for breaker in breakers {
        write!(
            page,
            r#"<tr role="row"><th scope="row" role="rowheader">{}</th><td role="cell" data-label="State">{}</td>"#,
            Name(breaker.name()),
            breaker.state().as_str().replace('_', " ")
        )?;
        for (label, count) in [
            ("Calls", breaker.calls()),
            ("Failures", breaker.failures()),
            ("Slow calls", breaker.slow_calls()),
        ] {
            write_number(page, label, format_args!("{}", Grouped(count)))?;
        }
        match breaker.state_time() {
            Some(time) => write_number(page, "Since", format_args!("{}", rounded(time)))?,
            None => write_number(page, "Since", format_args!("the start"))?,
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n");
    Ok(())
}

fn write_row(page: &mut String, operation: &OperationStats) -> fmt::Result {
    write!(
        page,
        r#"<tr role="row"><th scope="row" role="rowheader">{}{}</th>"#,
        Name(operation.name()),
        Share(operation.recoveries(), operation.calls())
    )?;
    for (label, count) in [
        ("Calls", operation.calls()),
        ("Failed attempts", operation.failed_attempts()),
    ] {
        write_number(page, label, format_args!("{}", Grouped(count)))?;
    }
    let causes = Kinds(operation.retries(), operation.causes(), RetryCause::as_str);
    write_number(page, "Retries", format_args!("{causes}"))?;
    let recovered = Grouped(operation.recoveries());
    write_number(page, "Recovered", format_args!("{recovered}"))?;
    let reasons = Kinds(
        operation.gave_up(),
        operation.give_ups(),
        GiveUpReason::as_str,
    );
    write_number(page, "Gave up", format_args!("{reasons}"))?;
    write_number(
        page,
        "Delay",
        format_args!("{}", rounded(operation.delay())),
    )?;
    page.push_str(r#"<td role="cell" class="error" data-label="Last error">"#);
    match operation.last_error() {
        Some(error) => write_error(page, error)?,
        None => page.push_str("none"),
    }
    page.push_str("</td></tr>\n");
    Ok(())
}

fn write_number(page: &mut String, label: &str, value: fmt::Arguments<'_>) -> fmt::Result {
    write!(
        page,
        r#"<td role="cell" class="number" data-label="{label}">{value}</td>"#
    )
}

fn write_error(page: &mut String, error: &LastError) -> fmt::Result {
    write!(page, "<code>{}</code>", Escaped(error.error_type()))?;
    if let Some(message) = error.message() {
        write!(page, r#"<p class="message">{}</p>"#, Escaped(message))?;
    }
    write!(page, "{}", Time(error.at()))
}

/// A text between tags: nothing in it is markup, and nothing turns or hides the text around it.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(c)?,
                c if is_harmless(c) => f.write_char(c)?,
                _ => f.write_char(char::REPLACEMENT_CHARACTER)?,
            }
        }
        Ok(())
    }
}

/// The name of an operation, which may go on in the next line after each of its parts.
struct Name<'a>(&'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for path in self.0.split_inclusive("::") {
            for part in path.split_inclusive(['_', '.', '/']) {
                write!(f, "{}<wbr>", Escaped(part))?;
            }
        }
        Ok(())
    }
}

/// `12,345`.
struct Grouped(u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (place, digit) in (0..digits.len()).rev().zip(digits.chars()) {
            f.write_char(digit)?;
            if place > 0 && place.is_multiple_of(3) {
                f.write_char(',')?;
            }
        }
        Ok(())
    }
}

/// `2026-03-01 12:00:00 UTC`, for machines with milliseconds.
struct Time(SystemTime);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = rfc3339(self.0);
        let (date, time) = exact.split_once('T').unwrap_or_default();
        let (time, _) = time.split_once('.').unwrap_or_default();
        write!(f, r#"<time datetime="{exact}">{date} {time} UTC</time>"#)
    }
}

/// A number, and how often it was for which cause or reason.
struct Kinds<'a, K>(u64, &'a [(K, u64)], fn(K) -> &'static str);

impl<K: Copy> fmt::Display for Kinds<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(sum, counts, word) = self;
        write!(f, "{}", Grouped(*sum))?;
        if counts.is_empty() {
            return Ok(());
        }
        f.write_str("<ul>")?;
        for (kind, count) in *counts {
            let kind = word(*kind).replace('_', " ");
            write!(f, "<li>{kind} {}</li>", Grouped(*count))?;
        }
        f.write_str("</ul>")
    }
}

/// A bar of what recovered; the numbers beside it say the same.
struct Share(u64, u64);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(part, whole) = *self;
        let Some(percent) = part.saturating_mul(100).checked_div(whole) else {
            return Ok(());
        };
        write!(
            f,
            r#"<span class="share" aria-hidden="true" title="{percent} % recovered"><i style="width:{percent}%"></i></span>"#
        )
    }
}

#[cfg(test)]
mod tests;
