//! The traces of a fixed set of cases, as they were when they were recorded.

use crate::case::Case;
use crate::drivers::{self, Driver};

/// Cases whose traces are meant to differ from the record, and why: `(|id, _| [7, 9].contains(&id), "...")`, or all that
/// are alike, `(|_, case| case.nested, "...")`.
type Explained = (fn(u64, &Case) -> bool, &'static str);

const EXPLAINED: &[Explained] = &[];

/// What was not right when it was recorded, whether or not the table of drivers still has it.
const LEFT_OUT: [&str; 2] = ["late budgets", "late polling"];

const CASES: u64 = 10_000;
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/recorded.txt");

/// Who is recorded, in turn.
const RECORDED: [&str; 4] = ["`async fn`", "`fn`", "`async fn`, plain", "`fn`, plain"];

fn line(drivers: &[Driver], id: u64) -> (Case, String) {
    let name = RECORDED[usize::try_from(id).unwrap_or(0) % RECORDED.len()];
    let driver = drivers::named(drivers, name);
    let mut case = Case::at_run_time(id);
    for part in LEFT_OUT {
        case.leave_out(part);
    }
    let case = driver.part_of(&case);
    let line = format!("{id} {}", driver.run(&case));
    (case, line)
}

#[test]
fn recorded_traces() {
    let drivers = drivers::all();
    if std::env::var("REATTEMPT_RECORD").is_ok_and(|value| value == "1") {
        let mut lines: Vec<_> = (0..CASES).map(|id| line(&drivers, id).1).collect();
        lines.push(String::new());
        std::fs::write(FILE, lines.join("\n")).expect("a record");
    }
    let record = std::fs::read_to_string(FILE).expect("a record");
    assert_eq!(record.lines().count() as u64, CASES);
    let (mut differences, mut count) = (String::new(), 0);
    for (id, expected) in (0..).zip(record.lines()) {
        let (case, found) = line(&drivers, id);
        let is_explained = || EXPLAINED.iter().any(|(applies, _)| applies(id, &case));
        if expected == found || is_explained() {
            continue;
        }
        count += 1;
        if count <= 5 {
            let text = format!("recorded {expected}\n     now {found}\n{case:?}\n");
            differences.push_str(&text);
        }
    }
    assert!(count == 0, "{count} traces differ\n{differences}");
}
