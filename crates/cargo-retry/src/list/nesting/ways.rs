//! From a retried call to the next ones, through functions that do not retry themselves: the shortest way, and in how
//! many places an attempt may take one.

use std::collections::{HashMap, HashSet};

use super::Inner;
use crate::list::calls::Index;
use crate::list::count::Count;
use crate::list::sites::Survey;

/// A place of a call.
pub(super) struct Step {
    callee: usize,
    is_spawned: bool,
    is_looped: bool,
}

/// What each node calls, once for each place.
pub(super) fn called(survey: &Survey, index: &Index<'_>) -> Vec<Vec<Step>> {
    let nodes = survey.nodes.iter().map(|node| {
        let steps = node.calls.iter().flat_map(|call| {
            let mut meant = index.meant(node, call);
            meant.sort_unstable();
            meant.dedup();
            meant.into_iter().map(|callee| Step {
                callee,
                is_spawned: call.is_spawned,
                is_looped: call.is_looped,
            })
        });
        steps.collect()
    });
    nodes.collect()
}

/// The sites that a node leads to.
pub(super) fn led_to(survey: &Survey, called: &[Vec<Step>], start: usize) -> Vec<Inner> {
    // Nodes, whether they run elsewhere, and from which step they are called.
    let mut steps: Vec<(usize, bool, Option<usize>)> = vec![(start, false, None)];
    let mut seen = HashSet::from([(start, false)]);
    let mut found: Vec<Inner> = Vec::new();
    let mut numbers = HashMap::new();
    let mut at = 0;
    while let Some(&(node, is_elsewhere, _)) = steps.get(at) {
        for step in called.get(node).into_iter().flatten() {
            let is_spawned = is_elsewhere || step.is_spawned;
            match survey.nodes.get(step.callee).and_then(|node| node.site) {
                Some(site) => {
                    let number = *numbers.entry(site).or_insert(found.len());
                    match found.get_mut(number) {
                        Some(known) => known.is_spawned |= is_spawned,
                        None => found.push(Inner {
                            site,
                            through: names(survey, &steps, at),
                            is_spawned,
                            places: Count::Unknown,
                            is_looped: false,
                            attempts: Count::Unknown,
                            multiplied: Count::Unknown,
                            is_recursive: false,
                        }),
                    }
                }
                None if seen.insert((step.callee, is_spawned)) => {
                    steps.push((step.callee, is_spawned, Some(at)));
                }
                None => {}
            }
        }
        at = at.saturating_add(1);
    }
    if found.is_empty() {
        return found;
    }
    let nodes = steps.iter().map(|(node, ..)| *node).collect();
    let ways = Ways::to_sites(survey, called, nodes);
    for inner in &mut found {
        if let Some(ways) = ways.get(&inner.site) {
            inner.places = Count::Known(ways.places);
            inner.is_looped = ways.is_looped;
        }
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

/// How often something is called in one attempt, as far as places tell.
#[derive(Clone, Copy, Default)]
struct Ways {
    places: u64,
    /// Whether some of them are taken more than once.
    is_looped: bool,
}

impl Ways {
    /// Those to each site from the first of the nodes, which are all that lie on the ways.
    fn to_sites(
        survey: &Survey,
        called: &[Vec<Step>],
        mut nodes: Vec<usize>,
    ) -> HashMap<usize, Self> {
        let mut seen = HashSet::new();
        nodes.retain(|node| seen.insert(*node));
        let mut waits_for: HashMap<usize, usize> = nodes.iter().map(|node| (*node, 0)).collect();
        for step in nodes.iter().filter_map(|node| called.get(*node)).flatten() {
            if let Some(count) = waits_for.get_mut(&step.callee) {
                *count = count.saturating_add(1);
            }
        }
        let one = Self {
            places: 1,
            is_looped: false,
        };
        let mut ways: HashMap<usize, Self> = nodes
            .first()
            .map(|start| (*start, one))
            .into_iter()
            .collect();
        let mut sites: HashMap<usize, Self> = HashMap::new();
        let mut ready: Vec<usize> = nodes.first().copied().into_iter().collect();
        let mut done = HashSet::new();
        let mut rest = nodes.iter();
        loop {
            let node = match ready.pop() {
                Some(node) => node,
                // Functions that call each other: in a loop, if one looks at it from outside.
                None => match rest.next() {
                    Some(node) if done.contains(node) => continue,
                    Some(node) => {
                        ways.entry(*node).or_default().is_looped = true;
                        *node
                    }
                    None => return sites,
                },
            };
            if !done.insert(node) {
                continue;
            }
            let own = ways.get(&node).copied().unwrap_or_default();
            for step in called.get(node).into_iter().flatten() {
                let site = survey.nodes.get(step.callee).and_then(|node| node.site);
                let to = match site {
                    Some(site) => sites.entry(site).or_default(),
                    None => ways.entry(step.callee).or_default(),
                };
                to.places = to.places.saturating_add(own.places);
                to.is_looped |= own.is_looped || step.is_looped;
                if let (None, Some(count)) = (site, waits_for.get_mut(&step.callee)) {
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        ready.push(step.callee);
                    }
                }
            }
        }
    }
}
