//! Which results a workflow gets, and when.

use std::task::Waker;

use super::{Journal, Lookup, Next, Stop};
use crate::task::{Direction, Fence, Record, RecordKind};
use crate::time::Time;

/// Step `seq` was done as the `ord`th thing.
fn done(seq: i32, ord: i32, name: &str) -> Record {
    Record {
        seq,
        kind: RecordKind::Done,
        ord,
        name: name.to_owned(),
        attempts: 0,
        result: Some(seq.to_string()),
        error: None,
        due_at: None,
        at: Time::from_micros(i64::from(ord)),
        fence: Fence(1),
        args_hash: None,
        args: None,
        undo: None,
    }
}

fn journal(history: Vec<Record>) -> Journal {
    let mut journal = Journal::new(Direction::Forward, Time::default());
    journal.load(history);
    journal
}

/// Polls a workflow that makes all these calls at once, and removes the calls that return.
fn poll(journal: &mut Journal, open: &mut Vec<(i32, &str)>) -> (Vec<i32>, Next) {
    journal.before_poll();
    let mut heard = Vec::new();
    open.retain(
        |(seq, name)| match journal.look_up(*seq, name, None, Waker::noop()) {
            Lookup::Ended(record) => {
                heard.push(record.seq);
                false
            }
            Lookup::New(_) | Lookup::Wait => true,
        },
    );
    (heard, journal.after_poll().0)
}

#[test]
fn recorded_results_come_one_at_a_time_and_in_their_order() {
    let history = vec![done(2, 0, "c"), done(0, 1, "a"), done(1, 2, "b")];
    let mut journal = journal(history);
    let mut open = vec![(0, "a"), (1, "b"), (2, "c")];
    // First all calls ask, as when the workflow was new.
    assert_eq!(poll(&mut journal, &mut open), (vec![], Next::Again));
    assert_eq!(poll(&mut journal, &mut open), (vec![2], Next::Again));
    assert_eq!(journal.now(), Time::from_micros(0));
    assert_eq!(poll(&mut journal, &mut open), (vec![0], Next::Again));
    assert_eq!(poll(&mut journal, &mut open), (vec![1], Next::Again));
    assert_eq!(journal.now(), Time::from_micros(2));
    assert_eq!(journal.missing_request(), None);
}

#[test]
fn no_new_call_starts_before_the_record_is_replayed() {
    let mut journal = journal(vec![done(0, 0, "a")]);
    let mut open = vec![(0, "a"), (1, "b")];
    poll(&mut journal, &mut open);
    journal.before_poll();
    assert!(matches!(
        journal.look_up(1, "b", None, Waker::noop()),
        Lookup::Wait
    ));
    assert!(matches!(
        journal.look_up(0, "a", None, Waker::noop()),
        Lookup::Ended(_)
    ));
    let (next, held) = journal.after_poll();
    assert_eq!((next, held.len()), (Next::Again, 2));
    journal.before_poll();
    assert!(matches!(
        journal.look_up(1, "b", None, Waker::noop()),
        Lookup::New(None)
    ));
}

#[test]
fn an_abandoned_call_blocks_no_other() {
    let mut journal = journal(vec![done(1, 0, "b"), done(0, 1, "a"), done(2, 2, "c")]);
    let mut open = vec![(0, "a"), (1, "b")];
    poll(&mut journal, &mut open);
    assert_eq!(poll(&mut journal, &mut open), (vec![1], Next::Again));
    // The race is over.
    journal.abandon(0);
    let mut open = vec![(2, "c")];
    assert_eq!(poll(&mut journal, &mut open), (vec![], Next::Again)); // it asks
    assert_eq!(poll(&mut journal, &mut open), (vec![], Next::Again)); // the loser is passed over
    assert_eq!(poll(&mut journal, &mut open), (vec![2], Next::Again));
    assert_eq!(journal.missing_request(), None);
}

#[test]
fn another_name_in_the_same_place_is_reported() {
    let mut journal = journal(vec![done(0, 0, "pay")]);
    let (_, next) = poll(&mut journal, &mut vec![(0, "ship")]);
    let Next::Stop(Stop::Diverged(message)) = next else {
        panic!("{next:?}");
    };
    assert!(message.starts_with("step 0 was `pay` when it was recorded and is `ship` now"));
}

#[test]
fn a_recorded_call_that_is_missing_is_reported() {
    let mut journal = journal(vec![done(0, 0, "a"), done(1, 1, "b")]);
    let mut open = vec![(0, "a")];
    poll(&mut journal, &mut open);
    assert_eq!(poll(&mut journal, &mut open), (vec![0], Next::Again));
    let stalled = Next::Stalled("step 1 `b`".to_owned());
    assert_eq!(poll(&mut journal, &mut open), (vec![], stalled));
    let message = journal.missing_request().unwrap_or_default();
    assert!(
        message.starts_with("the workflow did not call step 1 `b`"),
        "{message}"
    );
}

#[test]
fn a_result_comes_when_it_is_written() {
    let mut journal = journal(Vec::new());
    let mut open = vec![(0, "a"), (1, "b")];
    assert_eq!(poll(&mut journal, &mut open), (vec![], Next::Rest));
    for seq in [1, 0] {
        journal.add_unwritten(done(seq, 1 - seq, "any"));
    }
    journal.before_poll();
    // The first call to end is the first to return, whichever record is written first.
    journal.mark_written(0, Time::default());
    assert!(journal.take_outcome(0, Waker::noop()).is_none());
    assert!(journal.take_outcome(1, Waker::noop()).is_none());
    journal.mark_written(1, Time::default());
    assert!(journal.take_outcome(0, Waker::noop()).is_none());
    assert!(journal.take_outcome(1, Waker::noop()).is_some());
    // One at a time.
    assert!(journal.take_outcome(0, Waker::noop()).is_none());
    assert_eq!(journal.after_poll().0, Next::Again);
    journal.before_poll();
    assert!(journal.take_outcome(0, Waker::noop()).is_some());
}

#[test]
fn a_transaction_of_another_thread_comes_in_the_order_of_its_record() {
    let mut journal = journal(Vec::new());
    let mut open = vec![(0, "a"), (1, "b"), (2, "c")];
    assert_eq!(poll(&mut journal, &mut open), (vec![], Next::Rest));
    for (seq, ord) in [(2, 2), (0, 0), (1, 1)] {
        journal.add_unwritten(done(seq, ord, "any"));
        journal.mark_written(seq, Time::default());
    }
    // What is on disk stays.
    journal.withdraw(1);
    journal.before_poll();
    assert!(journal.take_outcome(2, Waker::noop()).is_none());
    assert!(journal.take_outcome(0, Waker::noop()).is_some());
    journal.before_poll();
    assert!(journal.take_outcome(1, Waker::noop()).is_some());
    // It was rolled back, so no call waits for it.
    journal.add_unwritten(done(3, 3, "d"));
    journal.withdraw(3);
    journal.before_poll();
    assert!(journal.take_outcome(2, Waker::noop()).is_some());
    assert_eq!(journal.count_received("d"), 0);
}

#[test]
fn a_task_that_goes_back_begins_nothing_and_hands_over_what_was_done() {
    let history = vec![done(0, 0, "a"), done(1, 1, "b")];
    let undone = Record {
        kind: RecordKind::Undone,
        ..done(1, 2, "b")
    };
    let history = [history, vec![undone]].concat();
    let mut journal = Journal::new(Direction::Undoing, Time::default());
    journal.load(history);
    assert!(journal.record_to_undo(0).is_some());
    assert!(journal.record_to_undo(1).is_none() && journal.has_undone());
    let mut open = vec![(0, "a"), (1, "b"), (2, "c")];
    while poll(&mut journal, &mut open).1 == Next::Again {}
    assert_eq!(open, [(2, "c")]);
    assert_eq!(poll(&mut journal, &mut open).1, Next::Idle(None));
}
