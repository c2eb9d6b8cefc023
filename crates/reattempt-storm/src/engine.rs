//! The agenda of a run: what happens when. Nothing here knows what the events mean.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::time::Duration;

use retry_runtime::timer::{Clock as _, Timestamp};

use crate::clock::Virtual;

/// The events that are still to come.
#[derive(Debug)]
pub struct Agenda<E> {
    entries: BinaryHeap<Reverse<Entry<E>>>,
    planned: u64,
}

#[derive(Debug)]
struct Entry<E> {
    moment: Timestamp,
    /// What is planned first happens first where the moments are the same: a run has one order.
    number: u64,
    event: E,
}

impl<E> Agenda<E> {
    /// Nothing is planned.
    pub const fn new() -> Self {
        Self {
            entries: BinaryHeap::new(),
            planned: 0,
        }
    }

    /// Plans `event` for `delay` from now.
    pub fn plan(&mut self, clock: &Virtual, delay: Duration, event: E) {
        self.planned = self.planned.wrapping_add(1);
        self.entries.push(Reverse(Entry {
            moment: clock.now().after(delay),
            number: self.planned,
            event,
        }));
    }

    /// Goes on to the next event; `None` when nothing is planned.
    pub fn next(&mut self, clock: &Virtual) -> Option<E> {
        let Reverse(entry) = self.entries.pop()?;
        clock.set(entry.moment);
        Some(entry.event)
    }
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.moment, self.number).cmp(&(other.moment, other.number))
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<E> Eq for Entry<E> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_the_order_of_time_and_then_of_planning() {
        let clock = Virtual::new(0);
        let mut agenda = Agenda::new();
        for (millis, name) in [(5, 'd'), (1, 'a'), (3, 'b'), (3, 'c')] {
            agenda.plan(&clock, Duration::from_millis(millis), name);
        }
        let order: String = std::iter::from_fn(|| agenda.next(&clock)).collect();
        assert_eq!(order, "abcd");
        assert_eq!(clock.elapsed(), Duration::from_millis(5));
    }
}
