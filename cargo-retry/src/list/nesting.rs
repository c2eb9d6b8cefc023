//! Retries in retries: which retried calls a retried call makes, as far as the code tells, and how often at most the
//! innermost is attempted.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use retry_runtime::Nested;
use retry_runtime::rules::Key;

use super::calls::Index;
use super::policy::Effective;
use super::sites::{Node, Survey};

/// How often something is done at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    Known(u64),
    Unlimited,
    /// It depends on a value that only the program knows.
    Unknown,
}

impl Count {
    fn of(effective: Option<&Effective>) -> Self {
        match effective {
            Some(it) if it.knows(Key::Max) => it
                .policy
                .attempts()
                .map_or(Self::Unlimited, |it| Self::Known(it.into())),
            _ => Self::Unknown,
        }
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

    fn times(self, other: Self) -> Self {
        self.combined(other, u64::saturating_mul)
    }

    fn less_one(self) -> Self {
        self.combined(Self::Known(1), u64::saturating_sub)
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
    let mut edges: Vec<Vec<Inner>> = survey.sites.iter().map(|_| Vec::new()).collect();
    for (number, node) in survey.nodes.iter().enumerate() {
        let Some(list) = node.site.and_then(|site| edges.get_mut(site)) else {
            continue;
        };
        let mut walk = Walk {
            survey,
            index,
            seen: HashSet::from([number]),
            found: list,
        };
        walk.from(node, &mut Vec::new(), false);
    }
    let chains = Chains {
        edges: &edges,
        effective,
        known: RefCell::default(),
    };
    let counted = edges.iter().enumerate().map(|(site, list)| {
        let inner = list.iter().map(|inner| {
            let (full, held, multiplied, is_recursive) = chains.below(inner.site, &mut vec![site]);
            let own = chains.attempts(site);
            let attempts = if inner.is_spawned {
                own.times(full)
            } else {
                full.plus(own.less_one().times(held))
            };
            Inner {
                attempts,
                multiplied: own.times(multiplied),
                is_recursive,
                ..inner.clone()
            }
        });
        inner.collect()
    });
    counted.collect()
}

/// Through functions that do not retry themselves.
struct Walk<'a, 'b> {
    survey: &'a Survey,
    index: &'b Index<'a>,
    seen: HashSet<usize>,
    found: &'b mut Vec<Inner>,
}

impl Walk<'_, '_> {
    fn from(&mut self, node: &Node, through: &mut Vec<String>, is_spawned: bool) {
        for call in &node.calls {
            let is_spawned = is_spawned || call.is_spawned;
            for callee in self.index.meant(node, call) {
                let Some(next) = self.survey.nodes.get(callee) else {
                    continue;
                };
                if let Some(site) = next.site {
                    let known = self.found.iter_mut().find(|it| it.site == site);
                    match known {
                        Some(known) => known.is_spawned |= is_spawned,
                        None => self.found.push(Inner {
                            site,
                            through: through.clone(),
                            is_spawned,
                            attempts: Count::Unknown,
                            multiplied: Count::Unknown,
                            is_recursive: false,
                        }),
                    }
                } else if self.seen.insert(callee) {
                    through.push(next.name.clone());
                    self.from(next, through, is_spawned);
                    through.pop();
                }
            }
        }
    }
}

/// What is below a site: when it is called outside of any retry, inside of one, if no retry knew of another; and
/// whether the calls go in a circle.
type Below = (Count, Count, Count, bool);

struct Chains<'a> {
    edges: &'a [Vec<Inner>],
    effective: &'a [Option<Effective>],
    /// Sites that have been looked at.
    known: RefCell<HashMap<usize, Below>>,
}

impl Chains<'_> {
    fn attempts(&self, site: usize) -> Count {
        Count::of(self.effective.get(site).and_then(Option::as_ref))
    }

    fn multiplies(&self, site: usize) -> bool {
        let effective = self.effective.get(site).and_then(Option::as_ref);
        effective.is_some_and(|it| matches!(it.policy.nesting(), Nested::Multiply))
    }

    /// Attempts of the innermost call below `site`.
    fn below(&self, site: usize, above: &mut Vec<usize>) -> Below {
        if let Some(known) = self.known.borrow().get(&site) {
            return *known;
        }
        let own = self.attempts(site);
        let when_held = if self.multiplies(site) {
            own
        } else {
            Count::Known(1)
        };
        let mut most = (own, when_held, own, false);
        if above.contains(&site) {
            return (own, when_held, own, true);
        }
        above.push(site);
        for inner in self.edges.get(site).into_iter().flatten() {
            let (full, held, multiplied, is_recursive) = self.below(inner.site, above);
            let (full, held) = if inner.is_spawned {
                (own.times(full), when_held.times(full))
            } else {
                (full.plus(own.less_one().times(held)), when_held.times(held))
            };
            if full.rank() > most.0.rank() {
                most.0 = full;
            }
            if held.rank() > most.1.rank() {
                most.1 = held;
            }
            let multiplied = own.times(multiplied);
            if multiplied.rank() > most.2.rank() {
                most.2 = multiplied;
            }
            most.3 |= is_recursive;
        }
        above.pop();
        self.known.borrow_mut().insert(site, most);
        most
    }
}
