//! Retries in retries: which retried calls a retried call makes, as far as the code tells, and how often at most the
//! innermost is attempted.

use std::collections::{HashMap, HashSet};

use retry_runtime::Nested;
use retry_runtime::rules::Key;

use super::calls::Index;
use super::policy::Effective;
use super::sites::Survey;

/// How often something is done at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    Known(u64),
    Unlimited,
    /// It depends on a value that only the program knows.
    Unknown,
}

impl Count {
    pub(crate) fn of(effective: &Effective) -> Self {
        if !effective.knows(Key::Max) {
            return Self::Unknown;
        }
        let attempts = effective.policy.attempts();
        attempts.map_or(Self::Unlimited, |it| Self::Known(it.into()))
    }

    fn combined(self, other: Self, known: impl Fn(u64, u64) -> u64) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Unlimited, _) | (_, Self::Unlimited) => Self::Unlimited,
            (Self::Known(one), Self::Known(other)) => Self::Known(known(one, other)),
        }
    }

    fn plus(self, other: Self) -> Self {
        self.combined(other, u64::saturating_add)
    }

    pub(crate) fn times(self, other: Self) -> Self {
        self.combined(other, u64::saturating_mul)
    }

    fn less(self, other: Self) -> Self {
        self.combined(other, u64::saturating_sub)
    }

    fn most(self, other: Self) -> Self {
        if other.rank() > self.rank() {
            other
        } else {
            self
        }
    }

    /// For which of several chains is the longest.
    const fn rank(self) -> (u8, u64) {
        match self {
            Self::Known(count) => (0, count),
            Self::Unknown => (1, 0),
            Self::Unlimited => (2, 0),
        }
    }
}

/// A retried call that another one leads to.
#[derive(Debug, Clone)]
pub(crate) struct Inner {
    /// The number of its site.
    pub(crate) site: usize,
    /// The functions in between, outermost first.
    pub(crate) through: Vec<String>,
    /// Whether it runs in another task or thread, where it does not know that it is inside a retry.
    pub(crate) is_spawned: bool,
    /// Attempts of what is innermost below it, at most, for one call of the outer one.
    pub(crate) attempts: Count,
    /// The same if no retry knew of another.
    pub(crate) multiplied: Count,
    /// Whether it leads back to where it came from.
    pub(crate) is_recursive: bool,
}

/// For each site, the retried calls that it leads to directly.
pub(crate) fn of(
    survey: &Survey,
    index: &Index<'_>,
    effective: &[Option<Effective>],
) -> Vec<Vec<Inner>> {
    let called: Vec<Vec<(usize, bool)>> = survey
        .nodes
        .iter()
        .map(|node| {
            let calls = node.calls.iter().flat_map(|call| {
                let meant = index.meant(node, call).into_iter();
                meant.map(|callee| (callee, call.is_spawned))
            });
            calls.collect()
        })
        .collect();
    let mut edges: Vec<Vec<Inner>> = survey.sites.iter().map(|_| Vec::new()).collect();
    for (number, node) in survey.nodes.iter().enumerate() {
        if let Some(list) = node.site.and_then(|site| edges.get_mut(site)) {
            *list = led_to(survey, &called, number);
        }
    }
    let below = Chains::of(&edges, effective).below();
    for (site, list) in edges.iter_mut().enumerate() {
        let own = Layer::of(effective, site);
        for inner in list {
            let Some(below) = below.get(inner.site).copied().flatten() else {
                inner.is_recursive = true;
                continue;
            };
            inner.attempts = own.over(below, inner.is_spawned).full;
            inner.multiplied = own.attempts.times(below.multiplied);
        }
    }
    edges
}

/// The sites that a node leads to through functions that do not retry themselves, on the shortest ways.
fn led_to(survey: &Survey, called: &[Vec<(usize, bool)>], start: usize) -> Vec<Inner> {
    // Nodes, whether they run elsewhere, and from which step they are called.
    let mut steps: Vec<(usize, bool, Option<usize>)> = vec![(start, false, None)];
    let mut seen = HashSet::from([(start, false)]);
    let mut found: Vec<Inner> = Vec::new();
    let mut places = HashMap::new();
    let mut at = 0;
    while let Some(&(node, is_elsewhere, _)) = steps.get(at) {
        for &(callee, is_spawned) in called.get(node).into_iter().flatten() {
            let is_spawned = is_elsewhere || is_spawned;
            match survey.nodes.get(callee).and_then(|node| node.site) {
                Some(site) => {
                    let place = *places.entry(site).or_insert(found.len());
                    match found.get_mut(place) {
                        Some(known) => known.is_spawned |= is_spawned,
                        None => found.push(Inner {
                            site,
                            through: names(survey, &steps, at),
                            is_spawned,
                            attempts: Count::Unknown,
                            multiplied: Count::Unknown,
                            is_recursive: false,
                        }),
                    }
                }
                None if seen.insert((callee, is_spawned)) => {
                    steps.push((callee, is_spawned, Some(at)));
                }
                None => {}
            }
        }
        at = at.saturating_add(1);
    }
    found
}

/// The functions on the way to a step, without the first.
fn names(survey: &Survey, steps: &[(usize, bool, Option<usize>)], mut at: usize) -> Vec<String> {
    let mut names = Vec::new();
    while let Some((node, _, Some(before))) = steps.get(at) {
        names.extend(survey.nodes.get(*node).map(|node| node.name.clone()));
        at = *before;
    }
    names.reverse();
    names
}

/// What one site does with the calls below it.
#[derive(Clone, Copy)]
struct Layer {
    /// How often its body runs at most: attempts, with the copies of each.
    attempts: Count,
    /// The same inside of a retry of another call.
    held: Count,
    /// How often it runs before anything has failed.
    first: Count,
    /// Whether calls below see that it is retrying: a poll is no retry.
    is_seen: bool,
}

/// What is below a site, itself included: how often the innermost runs at most.
#[derive(Clone, Copy)]
struct Below {
    /// Outside of any retry.
    full: Count,
    /// Inside of one.
    held: Count,
    /// If no retry knew of another.
    multiplied: Count,
}

impl Layer {
    fn of(effective: &[Option<Effective>], site: usize) -> Self {
        let Some(effective) = effective.get(site).and_then(Option::as_ref) else {
            return Self {
                attempts: Count::Unknown,
                held: Count::Unknown,
                first: Count::Unknown,
                is_seen: true,
            };
        };
        let attempts = Count::of(effective).times(effective.copies);
        let goes_on = effective.polls || matches!(effective.policy.nesting(), Nested::Multiply);
        Self {
            attempts,
            held: if goes_on { attempts } else { effective.copies },
            first: effective.copies,
            is_seen: !effective.polls,
        }
    }

    fn alone(self) -> Below {
        Below {
            full: self.attempts,
            held: self.held,
            multiplied: self.attempts,
        }
    }

    /// With `below` called in each attempt.
    fn over(self, below: Below, is_spawned: bool) -> Below {
        let full = if is_spawned || !self.is_seen {
            self.attempts.times(below.full)
        } else {
            let retries = self.attempts.less(self.first);
            self.first.times(below.full).plus(retries.times(below.held))
        };
        let inside = if is_spawned { below.full } else { below.held };
        Below {
            full,
            held: self.held.times(inside),
            multiplied: self.attempts.times(below.multiplied),
        }
    }
}

impl Below {
    /// The more of both, one by one: the longest chain outside of a retry may be another than inside.
    fn or(self, other: Self) -> Self {
        Self {
            full: self.full.most(other.full),
            held: self.held.most(other.held),
            multiplied: self.multiplied.most(other.multiplied),
        }
    }
}

/// Which site calls which.
struct Chains<'a> {
    edges: &'a [Vec<Inner>],
    effective: &'a [Option<Effective>],
    callers: Vec<Vec<usize>>,
}

impl<'a> Chains<'a> {
    fn of(edges: &'a [Vec<Inner>], effective: &'a [Option<Effective>]) -> Self {
        let mut callers: Vec<Vec<usize>> = edges.iter().map(|_| Vec::new()).collect();
        for (site, list) in edges.iter().enumerate() {
            for inner in list {
                if let Some(callers) = callers.get_mut(inner.site) {
                    callers.push(site);
                }
            }
        }
        Self {
            edges,
            effective,
            callers,
        }
    }

    /// From the innermost outwards. Nothing for sites that lead into a circle: nobody knows how deep it goes.
    fn below(&self) -> Vec<Option<Below>> {
        let mut below: Vec<Option<Below>> = vec![None; self.edges.len()];
        let mut waits_for: Vec<usize> = self.edges.iter().map(Vec::len).collect();
        let innermost = waits_for.iter().enumerate();
        let innermost = innermost.filter(|(_, count)| **count == 0);
        let mut ready: Vec<usize> = innermost.map(|(site, _)| site).collect();
        while let Some(site) = ready.pop() {
            let own = Layer::of(self.effective, site);
            let chains = self.edges.get(site).into_iter().flatten();
            let chains = chains.filter_map(|inner| {
                let inside = below.get(inner.site).copied().flatten()?;
                Some(own.over(inside, inner.is_spawned))
            });
            let most = chains.fold(own.alone(), Below::or);
            if let Some(below) = below.get_mut(site) {
                *below = Some(most);
            }
            for caller in self.callers.get(site).into_iter().flatten() {
                if let Some(count) = waits_for.get_mut(*caller) {
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        ready.push(*caller);
                    }
                }
            }
        }
        below
    }
}
