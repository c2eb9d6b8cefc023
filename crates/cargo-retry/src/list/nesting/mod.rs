//! Retries in retries: which retried calls a retried call makes, as far as the code tells, and how often at most the
//! innermost is attempted.
//!
//! Each place where an attempt may call the inner one adds up, branches included: with `p` places
//! and `n` attempts `p` full calls in the first attempt, and `p (n - 1)` that are held. Of what
//! stands in a loop, in a closure that an iterator calls, or in functions that call each other, the
//! numbers are those of one turn; a closure in a variable counts where it stands. What is spawned
//! does not know of the retry around it, so it multiplies. Numbers are worked out from the
//! innermost call outwards, which leaves circles, whose depth is unknown. A poll (`until`) holds
//! nothing below it and is not held; `hedge` counts each copy.

mod ways;

use retry_runtime::Nested;

use super::calls::Index;
use super::count::Count;
use super::policy::Effective;
use super::sites::Survey;

/// A retried call that another one leads to.
#[derive(Debug, Clone)]
pub(crate) struct Inner {
    /// The number of its site.
    pub(crate) site: usize,
    /// The functions in between, outermost first.
    pub(crate) through: Vec<String>,
    /// Whether it runs in another task or thread, where it does not know that it is inside a retry.
    pub(crate) is_spawned: bool,
    /// In how many places one attempt of the outer one may call it.
    pub(crate) places: Count,
    /// Whether one of them, or one further below, stands in a loop: the numbers are those of one turn.
    pub(crate) is_looped: bool,
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
    let called = ways::called(survey, index);
    let mut edges: Vec<Vec<Inner>> = survey.sites.iter().map(|_| Vec::new()).collect();
    for (number, node) in survey.nodes.iter().enumerate() {
        if let Some(list) = node.site.and_then(|site| edges.get_mut(site)) {
            *list = ways::led_to(survey, &called, number);
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
            let all = own.over(below, inner);
            inner.attempts = all.full;
            inner.multiplied = all.multiplied;
            inner.is_looped = all.is_looped;
        }
    }
    edges
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
    /// Whether these are the numbers of one turn of a loop.
    is_looped: bool,
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
        let attempts = effective.attempts().times(effective.copies);
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
            is_looped: false,
        }
    }

    /// With `below` called in each attempt, in each of its places: all but the last may come to a good end, each after
    /// all its attempts.
    fn over(self, below: Below, inner: &Inner) -> Below {
        let is_spawned = inner.is_spawned;
        let below = below.times(inner.places);
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
            is_looped: below.is_looped || inner.is_looped,
        }
    }
}

impl Below {
    fn times(self, places: Count) -> Self {
        Self {
            full: self.full.times(places),
            held: self.held.times(places),
            multiplied: self.multiplied.times(places),
            ..self
        }
    }

    /// The more of both, one by one: the longest chain outside of a retry may be another than inside.
    fn or(self, other: Self) -> Self {
        Self {
            full: self.full.most(other.full),
            held: self.held.most(other.held),
            multiplied: self.multiplied.most(other.multiplied),
            is_looped: self.is_looped || other.is_looped,
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
                Some(own.over(inside, inner))
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
