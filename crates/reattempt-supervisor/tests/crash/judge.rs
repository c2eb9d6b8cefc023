//! Checks the result of a run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use reattempt_supervisor::{Client, RecordKind, State, TaskId};

use crate::ledger::Ledger;
use crate::work;

/// The numbers of a run.
#[derive(Default)]
pub(crate) struct Seen {
    records: usize,
    calls: usize,
    repeated: usize,
    undone: usize,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} records, {} calls of which {} repeated one with the same key, {} compensations",
            self.records, self.calls, self.repeated, self.undone
        )
    }
}

#[cfg(feature = "postgres")]
impl Seen {
    /// Returns how many calls repeated one of unknown outcome.
    pub(crate) const fn repeated(&self) -> usize {
        self.repeated
    }
}

/// Checks that no task counts what happened to its workers as a failure of its own.
#[cfg(feature = "postgres")]
pub(crate) async fn nobody_failed(client: &Client, orders: &[TaskId]) {
    for id in orders {
        let task = client.store().task(*id).await.unwrap().unwrap();
        assert_eq!(task.failures, 0, "{task:?}");
    }
}

/// Returns the compensation of a step.
fn undo_of(name: &str) -> Option<&'static str> {
    match name {
        "reserve" => Some("unreserve"),
        "pay" => Some("refund"),
        _ => None,
    }
}

pub(crate) async fn all(client: &Client, ledger: &Ledger, orders: &[TaskId]) -> Seen {
    let mut by_task: HashMap<i64, Vec<_>> = HashMap::new();
    for call in ledger.calls() {
        by_task.entry(call.task).or_default().push(call);
    }
    let mut seen = Seen::default();
    for (order, id) in orders.iter().enumerate() {
        let task = client.store().task(*id).await.unwrap().unwrap();
        let history = client.store().history(*id).await.unwrap();
        let calls = by_task.remove(&id.0).unwrap_or_default();
        let is_late = task.workflow == "late";
        let fails = is_late || work::is_unshippable(u32::try_from(order).unwrap());
        // The time of a late task may be over before anything is done.
        let has_done = history.iter().any(|record| record.kind == RecordKind::Done);
        let expected = match () {
            () if is_late && !has_done => State::Error,
            () if fails => State::Compensated,
            () => State::Processed,
        };
        assert_eq!(task.state, expected, "{task:?} {history:?}");

        let once: BTreeSet<_> = history
            .iter()
            .map(|record| (record.seq, record.kind))
            .collect();
        assert_eq!(once.len(), history.len(), "recorded twice: {history:?}");
        let order_of: BTreeSet<_> = history.iter().map(|record| record.ord).collect();
        assert_eq!(
            order_of.len(),
            history.len(),
            "two records in one place: {history:?}"
        );

        // A record is on disk before any later step begins.
        let place = |what: &str| match what {
            "reserve" | "pay" => 0,
            "pack" => 1,
            "ship" => 2,
            _ => 3,
        };
        let places: Vec<_> = calls.iter().map(|call| place(&call.what)).collect();
        assert!(
            places.is_sorted(),
            "a step ran after a later one: {calls:?}"
        );

        // The keys of each call, and its fences.
        let mut called: BTreeMap<&str, (BTreeSet<&str>, Vec<i64>)> = BTreeMap::new();
        for call in &calls {
            let (keys, fences) = called.entry(&call.what).or_default();
            keys.insert(&call.key);
            fences.push(call.fence);
        }
        let result = |name: &str| {
            history
                .iter()
                .find(|record| record.name == name && record.kind.is_outcome())
        };
        for name in ["reserve", "pay", "pack", "ship"] {
            if is_late && result(name).is_none() {
                continue;
            }
            let record = result(name)
                .unwrap_or_else(|| panic!("{name} has no outcome: {task:?} {history:?}"));
            let (keys, fences) = called
                .get(name)
                .unwrap_or_else(|| panic!("{name} was never called: {history:?}"));
            assert_eq!(keys.len(), 1, "{name} had several keys: {calls:?}");
            let latest = fences.iter().max().copied().unwrap_or_default();
            assert!(
                latest <= record.fence.0,
                "{name} ran again after it was recorded: {record:?} {calls:?}"
            );
            seen.repeated += fences.len() - 1;
        }
        for record in history
            .iter()
            .filter(|record| record.kind == RecordKind::Done)
        {
            let Some(undo) = undo_of(&record.name) else {
                continue;
            };
            let was_called = called.contains_key(undo);
            assert_eq!(was_called, fails, "{undo} of {record:?}: {calls:?}");
            let is_undone = history
                .iter()
                .any(|other| other.seq == record.seq && other.kind == RecordKind::Undone);
            assert_eq!(is_undone, fails, "{history:?}");
            if let Some((keys, fences)) = called.get(undo) {
                assert_eq!(keys.len(), 1, "{undo} had several keys: {calls:?}");
                seen.repeated += fences.len() - 1;
                seen.undone += 1;
            }
        }
        seen.records += history.len();
        seen.calls += calls.len();
    }
    assert!(
        by_task.is_empty(),
        "somebody called for tasks that nobody submitted: {by_task:?}"
    );
    seen
}
