//! Numbers of the feed that are missing below the cursor of a reader.
//!
//! A task ends under its lock, and takes its number from a sequence. So a number that is missing below one that is
//! there was taken by a transaction that had begun, and that is open or rolled back. It is forgotten once every
//! transaction is over that had begun when it was noticed, and a look after that does not find it.
//!
//! A look that finds new lines asks for all gaps: one of them may be a later end of a task whose earlier end was in a
//! gap. Other looks ask for old gaps seldom.

use crate::store::{FeedCursor, FeedGap};

/// How far below the cursor a gap ends for which each look asks, also one that finds no new lines.
pub(super) const NEAR: i64 = 1_000;

/// What a look has found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found<'a> {
    /// The numbers of the lines, in their order.
    pub(super) numbers: &'a [i64],
    /// Whether the look has asked for all gaps although it has found no new lines.
    pub(super) old_gaps: bool,
    /// Transactions below this one were over before the look.
    pub(super) over: i64,
}

/// Returns the cursor of a reader that has got what a look has found.
pub(super) fn advance(cursor: &FeedCursor, found: Found<'_>) -> FeedCursor {
    let near = cursor.number.saturating_sub(NEAR);
    let last = found.numbers.last().copied().unwrap_or_default();
    let mut gaps = Vec::new();
    for gap in &cursor.gaps {
        let is_asked = found.old_gaps || gap.last > near || last > cursor.number;
        let is_over = gap.noticed.is_some_and(|noticed| noticed < found.over);
        if !(is_asked && is_over) {
            split(*gap, found.numbers, &mut gaps);
        }
    }
    let number = cursor.number.max(last);
    let new = FeedGap {
        first: cursor.number.saturating_add(1),
        last: number,
        noticed: None,
    };
    split(new, found.numbers, &mut gaps);
    FeedCursor {
        number,
        gaps,
        version: cursor.version,
    }
}

/// Adds what is left of a gap without these numbers.
fn split(gap: FeedGap, numbers: &[i64], gaps: &mut Vec<FeedGap>) {
    let mut first = gap.first;
    let inside = numbers.iter().copied();
    let inside = inside.filter(|number| (gap.first..=gap.last).contains(number));
    // The number after the gap ends what is left of it.
    for number in inside.chain([gap.last.saturating_add(1)]) {
        let last = number.saturating_sub(1);
        if first <= last {
            gaps.push(FeedGap { first, last, ..gap });
        }
        first = number.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn gap(first: i64, last: i64, noticed: Option<i64>) -> FeedGap {
        FeedGap {
            first,
            last,
            noticed,
        }
    }

    fn cursor(number: i64, gaps: &[FeedGap]) -> FeedCursor {
        FeedCursor {
            number,
            gaps: gaps.to_vec(),
            version: 7,
        }
    }

    const fn found(numbers: &[i64], over: i64) -> Found<'_> {
        Found {
            numbers,
            old_gaps: true,
            over,
        }
    }

    #[test]
    fn what_is_missing_between_the_numbers_is_a_gap() {
        let next = advance(&cursor(10, &[]), found(&[11, 14, 15, 17], 0));
        let gaps = [gap(12, 13, None), gap(16, 16, None)];
        assert_eq!(next, cursor(17, &gaps));
        assert_eq!(advance(&next, found(&[], 1_000)), next);
    }

    #[test]
    fn a_late_number_leaves_the_rest_of_its_gap() {
        let before = cursor(20, &[gap(12, 16, Some(5)), gap(18, 18, None)]);
        let next = advance(&before, found(&[12, 14, 18], 0));
        let gaps = [gap(13, 13, Some(5)), gap(15, 16, Some(5))];
        assert_eq!(next, cursor(20, &gaps));
    }

    #[test]
    fn a_gap_stays_until_the_transactions_of_its_time_are_over() {
        let before = cursor(20, &[gap(12, 16, Some(5))]);
        assert_eq!(advance(&before, found(&[], 5)), before);
        assert_eq!(advance(&before, found(&[], 6)), cursor(20, &[]));
        assert_eq!(advance(&before, found(&[14], 6)), cursor(20, &[]));
    }

    #[test]
    fn a_gap_for_which_nobody_asked_is_not_judged() {
        let far = cursor(5_000, &[gap(12, 16, Some(5)), gap(4_001, 4_001, Some(5))]);
        let near = Found {
            old_gaps: false,
            ..found(&[], 6)
        };
        let left = cursor(5_000, &[gap(12, 16, Some(5))]);
        assert_eq!(advance(&far, near), left);
        let news = Found {
            numbers: &[5_001],
            ..near
        };
        assert_eq!(advance(&far, news), cursor(5_001, &[]));
        assert_eq!(advance(&far, found(&[], 6)), cursor(5_000, &[]));
    }
}
