//! What a workflow hears, and when.

use std::task::Waker;

use super::{Asked, Journal, Next, Stop};
use crate::task::{Direction, Fence, Kind, Record};
use crate::time::Time;

/// Step `seq` was done as the `ord`th thing.
fn done(seq: i32, ord: i32, name: &str) -> Record {
    Record {
        seq,
        kind: Kind::Done,
        ord,
        name: name.to_owned(),
        attempts: 0,
        result: Some(seq.to_string()),
        error: None,
        due_at: None,
        at: Time::from_micros(i64::from(ord)),
        fence: Fence(1),
    }
}

fn journal(history: Vec<Record>) -> Journal {
    Journal::new(history, Direction::Forward, Time::default())
}

/// Polls a workflow that asks for all of these side by side; whoever is answered asks no more.
fn poll(journal: &mut Journal, open: &mut Vec<(i32, &str)>) -> (Vec<i32>, Next) {
    journal.poll();
    let mut heard = Vec::new();
    open.retain(
        |(seq, name)| match journal.asked(*seq, name, Waker::noop()) {
            Asked::Ended(record) => {
                heard.push(record.seq);
                false
            }
            Asked::New(_) | Asked::Wait => true,
        },
    );
    (heard, journal.polled().0)
}

#[test]
fn what_is_recorded_is_heard_one_at_a_time_and_in_that_order() {
    let history = vec![done(2, 0, "c"), done(0, 1, "a"), done(1, 2, "b")];
    let mut journal = journal(history);
    let mut open = vec![(0, "a"), (1, "b"), (2, "c")];
    // First everybody asks, as when it was new.
    assert_eq!(poll(&mut journal, &mut open), (vec![], Next::Again));
    assert_eq!(poll(&mut journal, &mut open), (vec![2], Next::Again));
    assert_eq!(journal.now(), Time::from_micros(0));
    assert_eq!(poll(&mut journal, &mut open), (vec![0], Next::Again));
    assert_eq!(poll(&mut journal, &mut open), (vec![1], Next::Again));
    assert_eq!(journal.now(), Time::from_micros(2));
    assert_eq!(journal.left_over(), None);
}

#[test]
fn nothing_new_begins_before_the_record_was_heard() {
    let mut journal = journal(vec![done(0, 0, "a")]);
    let mut open = vec![(0, "a"), (1, "b")];
    poll(&mut journal, &mut open);
    journal.poll();
    assert!(matches!(journal.asked(1, "b", Waker::noop()), Asked::Wait));
    assert!(matches!(
        journal.asked(0, "a", Waker::noop()),
        Asked::Ended(_)
    ));
    let (next, held) = journal.polled();
    assert_eq!((next, held.len()), (Next::Again, 2));
    journal.poll();
    assert!(matches!(
        journal.asked(1, "b", Waker::noop()),
        Asked::New(None)
    ));
}

#[test]
fn what_nobody_wants_any_more_holds_nobody_up() {
    let mut journal = journal(vec![done(1, 0, "b"), done(0, 1, "a"), done(2, 2, "c")]);
    let mut open = vec![(0, "a"), (1, "b")];
    poll(&mut journal, &mut open);
    assert_eq!(poll(&mut journal, &mut open), (vec![1], Next::Again));
    // The race is over.
    journal.dropped(0);
    let mut open = vec![(2, "c")];
    assert_eq!(poll(&mut journal, &mut open), (vec![], Next::Again)); // it asks
    assert_eq!(poll(&mut journal, &mut open), (vec![], Next::Again)); // who lost is passed over
    assert_eq!(poll(&mut journal, &mut open), (vec![2], Next::Again));
    assert_eq!(journal.left_over(), None);
}

#[test]
fn another_name_in_the_same_place_is_told() {
    let mut journal = journal(vec![done(0, 0, "pay")]);
    let (_, next) = poll(&mut journal, &mut vec![(0, "ship")]);
    let Next::Stop(Stop::Diverged(message)) = next else {
        panic!("{next:?}");
    };
    assert!(message.starts_with("step 0 was `pay` when it was recorded and is `ship` now"));
}

#[test]
fn what_is_recorded_and_not_asked_for_is_told() {
    let mut journal = journal(vec![done(0, 0, "a"), done(1, 1, "b")]);
    let mut open = vec![(0, "a")];
    poll(&mut journal, &mut open);
    assert_eq!(poll(&mut journal, &mut open), (vec![0], Next::Again));
    let stalled = Next::Stalled("step 1 `b`".to_owned());
    assert_eq!(poll(&mut journal, &mut open), (vec![], stalled));
    let told = journal.left_over().unwrap_or_default();
    assert!(
        told.starts_with("the workflow did not ask for step 1 `b`"),
        "{told}"
    );
}

#[test]
fn what_ends_is_heard_when_it_is_written() {
    let mut journal = journal(Vec::new());
    let mut open = vec![(0, "a"), (1, "b")];
    assert_eq!(poll(&mut journal, &mut open), (vec![], Next::Rest));
    for seq in [1, 0] {
        journal.ended(done(seq, 1 - seq, "any"));
    }
    journal.poll();
    // The first to end is the first to be heard, whoever is written first.
    journal.written(0, Time::default());
    assert!(journal.delivered(0, Waker::noop()).is_none());
    assert!(journal.delivered(1, Waker::noop()).is_none());
    journal.written(1, Time::default());
    assert!(journal.delivered(0, Waker::noop()).is_none());
    assert!(journal.delivered(1, Waker::noop()).is_some());
    // One at a time.
    assert!(journal.delivered(0, Waker::noop()).is_none());
    assert_eq!(journal.polled().0, Next::Again);
    journal.poll();
    assert!(journal.delivered(0, Waker::noop()).is_some());
}

#[test]
fn a_task_that_goes_back_begins_nothing_and_hands_over_what_was_done() {
    let history = vec![done(0, 0, "a"), done(1, 1, "b")];
    let undone = Record {
        kind: Kind::Undone,
        ..done(1, 2, "b")
    };
    let history = [history, vec![undone]].concat();
    let mut journal = Journal::new(history, Direction::Undoing, Time::default());
    assert!(journal.to_undo(0).is_some());
    assert!(journal.to_undo(1).is_none() && journal.has_undone());
    let mut open = vec![(0, "a"), (1, "b"), (2, "c")];
    while poll(&mut journal, &mut open).1 == Next::Again {}
    assert_eq!(open, [(2, "c")]);
    assert_eq!(poll(&mut journal, &mut open).1, Next::Idle(None));
}
