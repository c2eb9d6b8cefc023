//! Decides which writes go into one statement. Writes that do not affect each other may change
//! places; others keep their order.

use std::collections::HashSet;

use crate::store::{AdminCommand, Wake, Write};
use crate::task::{Lease, Record};

/// Writes of one kind, by their places in the list.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) kind: StageKind<'a>,
    pub(super) places: Vec<usize>,
    tasks: HashSet<i64>,
    lines: HashSet<(i64, i32, i16)>,
    keys: HashSet<(&'a str, &'a str)>,
}

/// The kind of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StageKind<'a> {
    Submits,
    Records,
    Running,
    Changes,
    Waits,
    Signals,
    AdminCommand(&'a AdminCommand),
    Claim,
    /// It affects all others, and all others affect it.
    Single,
}

/// Returns the stages in the order in which the store carries them out.
pub(super) fn stages(writes: &[Write]) -> Vec<Stage<'_>> {
    let mut stages: Vec<Stage<'_>> = Vec::new();
    for (place, write) in writes.iter().enumerate() {
        let new = Stage::of(write, place);
        let last = stages.iter().rposition(|stage| stage.affects(&new));
        // As early as possible: fewer stages are fewer statements. A write must only stay behind
        // the last stage that affects it.
        let free = last.map_or(0, |last| last.saturating_add(1));
        let same_kind = stages.iter_mut().skip(free).find(|stage| stage.takes(&new));
        match same_kind {
            Some(stage) => stage.add(new),
            None => stages.push(new),
        }
    }
    stages
}

/// Returns the numbers of the tasks that change, each once and in order.
pub(super) fn task_numbers(stages: &[Stage<'_>]) -> Vec<i64> {
    let mut numbers: Vec<_> = stages
        .iter()
        .flat_map(|stage| &stage.tasks)
        .copied()
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

impl<'a> Stage<'a> {
    /// Returns the stage of a single write.
    fn of(write: &'a Write, place: usize) -> Self {
        let kind = match write {
            Write::Submit(_) => StageKind::Submits,
            Write::Record(..) => StageKind::Records,
            Write::Running { .. } => StageKind::Running,
            Write::Change(_, change) => match change.wake {
                Wake::In(_) => StageKind::Changes,
                Wake::At(..) | Wake::Children { .. } => StageKind::Waits,
            },
            Write::Signal { .. } => StageKind::Signals,
            Write::Admin(_, command) => StageKind::AdminCommand(command),
            Write::Claim(_) => StageKind::Claim,
            Write::ClearDeaths(_)
            | Write::Fork(_)
            | Write::Start(..)
            | Write::EndChildren { .. }
            | Write::Continue(..)
            | Write::GiveBack(_)
            | Write::Leave(_)
            | Write::Schedule(_)
            | Write::LimitQueue(..)
            | Write::LimitLanes(..)
            | Write::Prune(..)
            | Write::PruneFeed(..) => StageKind::Single,
        };
        let line = match write {
            Write::Record(Lease { task, .. }, record) => {
                let Record { seq, kind, .. } = **record;
                Some((task.0, seq, kind.number()))
            }
            _ => None,
        };
        let key = match write {
            Write::Submit(new) => Some((new.workflow.as_str(), new.key.as_str())),
            _ => None,
        };
        Self {
            kind,
            places: vec![place],
            tasks: write.tasks().map(|task| task.0).collect(),
            lines: line.into_iter().collect(),
            keys: key.into_iter().collect(),
        }
    }

    /// Returns whether `later`, which has one write, must come after this stage.
    fn affects(&self, later: &Self) -> bool {
        use StageKind::{Claim, Records, Running, Signals, Single, Submits};
        match (self.kind, later.kind) {
            // The fence of a task is not known before its claim returns.
            (Claim, Records | Running) | (Records | Running, Claim) | (Signals, Signals) => false,
            // A claim may take any task that writes before it have stored or given back.
            (Single | Claim, _) | (_, Single | Claim) => true,
            (Submits, Submits) => !self.keys.is_disjoint(&later.keys),
            (Records, Records) => !self.lines.is_disjoint(&later.lines),
            _ => !self.tasks.is_disjoint(&later.tasks),
        }
    }

    /// Returns whether the locked status of a task stays valid after this stage, unless the task
    /// ends.
    pub(super) const fn keeps_lock_status(&self) -> bool {
        matches!(
            self.kind,
            StageKind::Submits
                | StageKind::Records
                | StageKind::Running
                | StageKind::Changes
                | StageKind::Waits
                | StageKind::Claim
        )
    }

    /// Returns a stage of the same kind with these places.
    pub(super) fn with_places(&self, places: Vec<usize>) -> Self {
        Self {
            kind: self.kind,
            places,
            tasks: HashSet::new(),
            lines: HashSet::new(),
            keys: HashSet::new(),
        }
    }

    /// Returns whether the write of `other` may go into this stage.
    fn takes(&self, other: &Self) -> bool {
        self.kind == other.kind
            // A report may end what one before it has started, and the parts of a statement do not
            // see each other. A command depends on the state that the one before has left.
            && !matches!(
                self.kind,
                StageKind::Single
                    | StageKind::Claim
                    | StageKind::Running
                    | StageKind::AdminCommand(_)
            )
    }

    fn add(&mut self, other: Self) {
        self.places.extend(other.places);
        self.tasks.extend(other.tasks);
        self.lines.extend(other.lines);
        self.keys.extend(other.keys);
    }
}
