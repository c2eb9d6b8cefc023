//! Which operations go into one statement. What does not matter to each other changes places; what does keeps its order.

use std::collections::HashSet;

use crate::store::{Operation, Steer};
use crate::task::{Hold, Record};

/// Operations of one kind, by their places in the list.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) places: Vec<usize>,
    runs: HashSet<i64>,
    lines: HashSet<(i64, i32, i16)>,
    keys: HashSet<(&'a str, &'a str)>,
}

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    Submits,
    Records,
    Announcements,
    Changes,
    Signals,
    Steer(&'a Steer),
    Claim,
    /// It matters to all others, and all others matter to it.
    Alone,
}

/// Statements in the order in which they are to be carried out.
pub(super) fn stages(operations: &[Operation]) -> Vec<Stage<'_>> {
    let mut stages: Vec<Stage<'_>> = Vec::new();
    for (place, operation) in operations.iter().enumerate() {
        let new = Stage::of(operation, place);
        let last = stages.iter().rposition(|stage| stage.matters_to(&new));
        let free = last.map_or(0, |last| last.saturating_add(1));
        let company = stages.iter_mut().skip(free).find(|stage| stage.takes(&new));
        match company {
            Some(stage) => stage.add(new),
            None => stages.push(new),
        }
    }
    stages
}

/// The numbers of the tasks that are changed, each once and in order.
pub(super) fn runs(stages: &[Stage<'_>]) -> Vec<i64> {
    let mut runs: Vec<_> = stages
        .iter()
        .flat_map(|stage| &stage.runs)
        .copied()
        .collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

impl<'a> Stage<'a> {
    fn of(operation: &'a Operation, place: usize) -> Self {
        let (kind, run) = match operation {
            Operation::Submit(_) => (Kind::Submits, None),
            Operation::Record(hold, _) => (Kind::Records, Some(hold.run)),
            Operation::Announce(hold, _) => (Kind::Announcements, Some(hold.run)),
            Operation::Change(hold, _) => (Kind::Changes, Some(hold.run)),
            Operation::Signal { run, .. } => (Kind::Signals, Some(*run)),
            Operation::Steer(run, steer) => (Kind::Steer(steer), Some(*run)),
            Operation::Claim(_) => (Kind::Claim, None),
            Operation::Beat(..)
            | Operation::Disown(..)
            | Operation::Leave(_)
            | Operation::Prune(..) => (Kind::Alone, None),
        };
        let line = match operation {
            Operation::Record(Hold { run, .. }, record) => {
                let Record { seq, kind, .. } = **record;
                Some((run.0, seq, kind.number()))
            }
            _ => None,
        };
        let key = match operation {
            Operation::Submit(new) => Some((new.workflow.as_str(), new.key.as_str())),
            _ => None,
        };
        Self {
            kind,
            places: vec![place],
            runs: run.map(|run| run.0).into_iter().collect(),
            lines: line.into_iter().collect(),
            keys: key.into_iter().collect(),
        }
    }

    /// Whether `later`, of one operation, must come after this.
    fn matters_to(&self, later: &Self) -> bool {
        use Kind::{Alone, Announcements, Claim, Records, Signals, Submits};
        match (self.kind, later.kind) {
            // Nobody knows the fence of a task before its claim is answered.
            (Claim, Records | Announcements)
            | (Records | Announcements, Claim)
            | (Signals, Signals) => false,
            (Alone | Claim, _) | (_, Alone | Claim) => true,
            (Submits, Submits) => !self.keys.is_disjoint(&later.keys),
            (Records, Records) => !self.lines.is_disjoint(&later.lines),
            _ => !self.runs.is_disjoint(&later.runs),
        }
    }

    /// Whether what is known of a locked task holds after it, but for its end.
    pub(super) const fn leaves_standing(&self) -> bool {
        matches!(
            self.kind,
            Kind::Submits | Kind::Records | Kind::Announcements | Kind::Changes | Kind::Claim
        )
    }

    /// The same for these places alone.
    pub(super) fn only(&self, places: Vec<usize>) -> Self {
        Self {
            kind: self.kind,
            places,
            runs: HashSet::new(),
            lines: HashSet::new(),
            keys: HashSet::new(),
        }
    }

    fn takes(&self, other: &Self) -> bool {
        self.kind == other.kind && !matches!(self.kind, Kind::Alone | Kind::Claim | Kind::Steer(_))
    }

    fn add(&mut self, other: Self) {
        self.places.extend(other.places);
        self.runs.extend(other.runs);
        self.lines.extend(other.lines);
        self.keys.extend(other.keys);
    }
}
