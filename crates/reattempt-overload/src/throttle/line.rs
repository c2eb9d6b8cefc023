//! The calls that wait for a token, first asked first served, and those that have gone away meanwhile.
#![warn(clippy::arithmetic_side_effects)]

use std::collections::VecDeque;

/// Places are numbers that go up; what a place is waiting for is counted, not dated.
#[derive(Debug)]
pub(super) struct Line {
    /// Places before it were given out by a line that was there before this one.
    first: u64,
    /// The place that is served next.
    serving: u64,
    /// The place that is given out next.
    next: u64,
    /// The places from `serving` on whose callers have gone away, in order.
    gone: VecDeque<u64>,
}

/// What a call has had that leaves.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Its place: those behind it move up.
    Waiting,
    /// A token.
    Served,
    /// Nothing of this line.
    Stranger,
}

impl Line {
    /// The first place that it gives out.
    pub(super) const fn new(first: u64) -> Self {
        Self {
            first,
            serving: first,
            next: first,
            gone: VecDeque::new(),
        }
    }

    /// The place that is given out next.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Takes the last place.
    pub(super) const fn join(&mut self) -> u64 {
        let place = self.next;
        self.next = place.saturating_add(1);
        place
    }

    /// How many wait in front of this place; `None` when it has been served.
    pub(super) fn ahead(&self, place: u64) -> Option<u64> {
        let places = place.checked_sub(self.serving)?;
        let gone = self.gone.partition_point(|gone| *gone < place);
        Some(places.saturating_sub(gone as u64))
    }

    /// Serves the first call; false where none waits.
    pub(super) fn serve(&mut self) -> bool {
        while self.serving < self.next {
            let place = self.serving;
            self.serving = place.saturating_add(1);
            if self.gone.front() != Some(&place) {
                return true;
            }
            self.gone.pop_front();
        }
        false
    }

    #[expect(clippy::disallowed_methods, reason = "at most the length")]
    pub(super) fn leave(&mut self, place: u64) -> Left {
        if place < self.first {
            return Left::Stranger;
        }
        if place < self.serving {
            return Left::Served;
        }
        let at = self.gone.partition_point(|gone| *gone < place);
        self.gone.insert(at, place);
        Left::Waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_asked_first_served() {
        let mut line = Line::new(1);
        assert!(!line.serve());
        let places = [(); 3].map(|()| line.join());
        assert_eq!(places, [1, 2, 3]);
        assert_eq!(places.map(|place| line.ahead(place)), [0, 1, 2].map(Some));
        assert!(line.serve());
        assert_eq!(
            places.map(|place| line.ahead(place)),
            [None, Some(0), Some(1)]
        );
        assert!(line.serve() && line.serve() && !line.serve());
        assert_eq!((line.ahead(3), line.join(), line.next()), (None, 4, 5));
    }

    #[test]
    fn who_leaves_makes_room_for_those_behind() {
        let mut line = Line::new(1);
        let places = [(); 6].map(|()| line.join());
        for place in [4, 1, 3] {
            assert_eq!(line.leave(place), Left::Waiting);
        }
        assert_eq!(
            [2, 5, 6].map(|place| line.ahead(place)),
            [0, 1, 2].map(Some)
        );
        assert!(line.serve());
        assert_eq!(
            [2, 5, 6].map(|place| line.ahead(place)),
            [None, Some(0), Some(1)]
        );
        assert_eq!(line.leave(2), Left::Served);
        assert_eq!(line.leave(6), Left::Waiting);
        assert!(line.serve() && !line.serve());
        assert_eq!(line.ahead(places[4]), None);
        assert!(line.gone.is_empty());
    }

    #[test]
    fn places_of_another_line_are_none_of_it() {
        let mut line = Line::new(4);
        assert_eq!((line.leave(3), line.ahead(3)), (Left::Stranger, None));
        assert_eq!((line.join(), line.leave(4)), (4, Left::Waiting));
    }
}
