//! The traces of a fixed set of cases, as they were when they were recorded.

use std::time::Duration;

use reattempt::Verdict;

use crate::case::{Case, End};
use crate::drivers::{self, Driver};
use crate::spec;

/// The lines that `REATTEMPT_RECORD=1` writes anew, and why: `(|id, _| [7, 9].contains(&id), "...")`, or all that are
/// alike, `(|_, case| case.nested, "...")`. Every other line stays, and a case that differs from its line fails.
type Explained = (fn(u64, &Case) -> bool, &'static str);

const EXPLAINED: &[Explained] = &[
    (
        |_, case| {
            let value = |key| spec::value(&case.spec, key);
            value("max") == Some("unlimited") && value("backoff") == Some("custom")
        },
        "a delay function with unlimited attempts has a floor of 1 ms",
    ),
    (
        |id, _| [616, 925, 8108, 8110, 9692].contains(&id),
        "an error asks for a delay that ends shortly before the deadline: its spread is at most what is left, so it neither \
     ends the call (616, 8110, 9692) nor is as long as before (925, 8108)",
    ),
    (
        |_, case| case.outer_deadline.is_some() && !case.is_limited(),
        "a deadline around the call cuts no attempt off whose call has no limit of its own: it is looked at between \
     attempts",
    ),
    (
        |_, case| {
            let is_late = !case.late.is_zero();
            is_late && (case.has(End::NotFinal) || spec::budget(&case.spec).is_some())
        },
        "these were recorded with timers that are never late: a value that was not final was asked for again after the \
     deadline, and a retry that was not made was paid for",
    ),
    (
        |_, case| !spec::policy(&case.spec).is_idempotent(),
        "a call that may have run, and must not run twice, ended as `permanent`",
    ),
    (
        |_, case| {
            let is_throttled = |delay| case.has(End::Error(Verdict::Throttled(delay)));
            is_throttled(None) || is_throttled(Some(Duration::ZERO))
        },
        "the delay after an error of throttling that asks for none is not drawn from less than `throttled_base`",
    ),
];

const CASES: u64 = 10_000;
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/recorded.txt");

/// Who is recorded, in turn.
const RECORDED: [&str; 4] = ["`async fn`", "`fn`", "`async fn`, plain", "`fn`, plain"];

fn line(drivers: &[Driver], id: u64) -> (Case, String) {
    let name = RECORDED[usize::try_from(id).unwrap_or(0) % RECORDED.len()];
    let driver = drivers::named(drivers, name);
    let case = driver.part_of(&Case::at_run_time(id));
    let line = format!("{id} {}", driver.run(&case));
    (case, line)
}

#[test]
fn recorded_traces() {
    let drivers = drivers::all();
    let record = std::fs::read_to_string(FILE).expect("a record");
    assert_eq!(record.lines().count() as u64, CASES);
    let is_recorded = std::env::var("REATTEMPT_RECORD").is_ok_and(|value| value == "1");
    let (mut differences, mut count, mut lines) = (String::new(), 0, Vec::new());
    for (id, expected) in (0..).zip(record.lines()) {
        let (case, found) = line(&drivers, id);
        let is_explained = || EXPLAINED.iter().any(|(applies, _)| applies(id, &case));
        if expected == found || (is_recorded && is_explained()) {
            lines.push(found);
            continue;
        }
        lines.push(expected.to_owned());
        count += 1;
        if count <= 5 {
            let text = format!("recorded {expected}\n     now {found}\n{case:?}\n");
            differences.push_str(&text);
        }
    }
    if is_recorded {
        lines.push(String::new());
        std::fs::write(FILE, lines.join("\n")).expect("a record");
    }
    assert!(count == 0, "{count} traces differ\n{differences}");
}
