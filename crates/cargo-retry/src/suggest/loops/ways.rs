//! The ways of a failed attempt through the code behind it: what is slept for and logged on each.

use std::collections::BTreeSet;

/// Where the code goes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Falls,
    Again,
    Leaves,
}

/// Above this number the last ones are left out.
const MOST: usize = 64;

/// One way.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    /// The delays, one after the other.
    sleeps: Vec<String>,
    /// The lines, each with its place in the file.
    logs: Vec<(usize, String)>,
    /// What it sets of delays and counts.
    steps: BTreeSet<String>,
    /// Whether the error says how long it sleeps.
    is_asked: bool,
}

/// The ways up to a point.
pub(super) struct Ways {
    /// Those that come there.
    open: BTreeSet<Way>,
    /// Those that have begun the next turn.
    again: BTreeSet<Way>,
    /// Those that have left the loop.
    left: BTreeSet<Way>,
}

/// A point where ways part.
pub(super) struct Fork {
    from: BTreeSet<Way>,
    joined: BTreeSet<Way>,
}

impl Ways {
    pub(super) fn new() -> Self {
        Self {
            open: BTreeSet::from([Way::default()]),
            again: BTreeSet::new(),
            left: BTreeSet::new(),
        }
    }

    pub(super) fn fork(&self) -> Fork {
        Fork {
            from: self.open.clone(),
            joined: BTreeSet::new(),
        }
    }

    /// One of the ways from a fork has come to its end; the next begins.
    pub(super) fn end(&mut self, fork: &mut Fork, end: End) {
        let way = std::mem::replace(&mut self.open, fork.from.clone());
        let all = match end {
            End::Falls => &mut fork.joined,
            End::Again => &mut self.again,
            End::Leaves => &mut self.left,
        };
        all.extend(way);
        while all.len() > MOST {
            all.pop_last();
        }
    }

    /// What is open has left the loop.
    pub(super) fn leave(&mut self) {
        self.left.extend(std::mem::take(&mut self.open));
    }

    pub(super) fn join(&mut self, fork: Fork) {
        self.open = fork.joined;
    }

    /// Ways that part by the number of the attempt: the last sleeps no more.
    pub(super) fn join_of_limit(&mut self, mut fork: Fork) {
        let delays = |ways: &BTreeSet<Way>| -> BTreeSet<Vec<String>> {
            ways.iter().map(|it| it.sleeps.clone()).collect()
        };
        let before = delays(&fork.from);
        if delays(&fork.joined).is_subset(&before) {
            return self.join(fork);
        }
        fork.joined.retain(|it| !before.contains(&it.sleeps));
        self.join(fork);
    }

    pub(super) fn sleeps(&mut self, delay: &str) {
        self.all(|it| it.sleeps.push(delay.to_owned()));
    }

    pub(super) fn sets(&mut self, step: &str) {
        self.all(|it| _ = it.steps.insert(step.to_owned()));
    }

    pub(super) fn is_asked(&mut self) {
        self.all(|it| it.is_asked = true);
    }

    pub(super) fn logs(&mut self, place: usize, line: &str) {
        self.all(|it| it.logs.push((place, line.to_owned())));
    }

    fn all(&mut self, change: impl Fn(&mut Way)) {
        let ways = std::mem::take(&mut self.open).into_iter();
        self.open = ways
            .map(|mut it| {
                change(&mut it);
                it
            })
            .collect();
    }

    fn on(&self) -> impl Iterator<Item = &Way> {
        self.again.iter().chain(&self.open)
    }

    /// What the loop sleeps for before it tries again, where the error does not say it.
    pub(super) fn delays(&self) -> BTreeSet<Vec<String>> {
        let own = self.on().filter(|it| !it.is_asked);
        own.map(|it| it.sleeps.clone()).collect()
    }

    /// What the loop sets of delays and counts on some ways to the next attempt only.
    pub(super) fn partial_steps(&self) -> BTreeSet<String> {
        let all = self.on().flat_map(|it| &it.steps);
        let partial = all.filter(|step| !self.on().all(|it| it.steps.contains(*step)));
        partial.cloned().collect()
    }

    /// The lines that are logged where the loop ends, by a failure or, where it counts its turns itself, by the last.
    pub(super) fn last_logs(&self, counts_turns: bool) -> Vec<String> {
        let last = self.on().filter(|_| counts_turns);
        let logs: BTreeSet<_> = self
            .left
            .iter()
            .chain(last)
            .flat_map(|it| &it.logs)
            .collect();
        logs.into_iter().map(|(_, line)| line.clone()).collect()
    }
}
