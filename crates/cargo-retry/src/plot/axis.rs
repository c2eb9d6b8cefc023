//! Where an axis begins and ends, and what stands along it: round numbers, as many as there is room for.

use std::ops::Range;

use reattempt_storm::draw::step;

/// An axis of a plot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// From one border to the other.
    pub(super) bounds: [f64; 2],
    /// Characters from one border to the other.
    pub(super) cells: u16,
    step: f64,
}

/// A number beside an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    /// Characters from the beginning of the axis.
    pub(super) at: u16,
    pub(super) text: String,
}

impl Axis {
    /// From 0 to a round number above `top`.
    pub(super) fn upwards(top: f64, rows: u16) -> Self {
        let top = if top > 0.0 && top.is_finite() {
            top
        } else {
            1.0
        };
        // As many lines from each label to the next, and as little as can be above the top.
        let above = f64::from(rows.saturating_sub(1)).max(2.0);
        let candidates = [2.0, 3.0, 4.0].map(|each| {
            let step = step(top, above / each);
            (step * above / each, step)
        });
        let lowest = candidates
            .into_iter()
            .min_by(|one, other| one.0.total_cmp(&other.0));
        let (end, step) = lowest.unwrap_or((top, top));
        Self {
            bounds: [0.0, end],
            cells: rows,
            step,
        }
    }

    /// From end to end.
    pub(crate) fn across(range: &Range<f64>, columns: u16) -> Self {
        let (start, end) = (range.start, range.end);
        let (start, end) = if start.is_finite() && end.is_finite() {
            (start, if end > start { end } else { start + 1.0 })
        } else {
            (0.0, 1.0)
        };
        let longest = u16::try_from(format!("{end:.0}").len()).unwrap_or(u16::MAX);
        let room = columns / longest.max(4).saturating_add(4);
        Self {
            bounds: [start, end],
            cells: columns,
            step: step(end - start, room.clamp(2, 12).into()),
        }
    }

    /// The round numbers of this axis.
    pub(super) fn labels(&self) -> Vec<Label> {
        let [start, end] = self.bounds;
        let decimals = decimals(self.step);
        let first = (start / self.step).ceil();
        let values = (0..64_u8).map(|n| (first + f64::from(n)) * self.step);
        let inside = values.take_while(|value| *value <= end + self.step * 1e-9);
        let label = |value: f64| Label {
            at: self.cell(value),
            text: format!("{value:.decimals$}"),
        };
        inside.map(label).collect()
    }

    /// The value in the middle of each character.
    pub(super) fn middles(&self) -> impl Iterator<Item = f64> {
        let [start, end] = self.bounds;
        let last = f64::from(self.cells.saturating_sub(1)).max(1.0);
        (0..self.cells).map(move |cell| start + (end - start) * f64::from(cell) / last)
    }

    /// The character in which `value` falls.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, and what is outside is not drawn"
    )]
    pub(crate) fn cell(&self, value: f64) -> u16 {
        let [start, end] = self.bounds;
        let last = f64::from(self.cells.saturating_sub(1));
        ((value - start) / (end - start) * last).round() as u16
    }
}

/// Decimals that tell multiples of `step` apart.
fn decimals(step: f64) -> usize {
    (0..9)
        .find(|&decimals| {
            let shown = format!("{step:.decimals$}").parse::<f64>();
            shown.is_ok_and(|shown| (shown - step).abs() < step * 1e-6)
        })
        .unwrap_or(9)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "round numbers")]

    use super::*;

    fn texts(axis: &Axis) -> Vec<String> {
        axis.labels().into_iter().map(|label| label.text).collect()
    }

    #[test]
    fn numbers_are_round_and_reach_the_top() {
        let axis = Axis::upwards(1.05, 12);
        assert_eq!(texts(&axis), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let places: Vec<_> = axis.labels().iter().map(|label| label.at).collect();
        assert_eq!(places, [0, 2, 4, 6, 8, 10]);
        assert_eq!(texts(&Axis::upwards(840.0, 12)), ["0", "250", "500", "750"]);
        for odd in [0.0, f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(Axis::upwards(odd, 12), Axis::upwards(1.0, 12), "{odd}");
        }
    }

    #[test]
    fn an_axis_without_a_length_has_one_all_the_same() {
        let axis = Axis::across(&(0.0..2.4), 70);
        assert_eq!(texts(&axis), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        for odd in [0.0..0.0, f64::INFINITY..0.0, 0.0..f64::NAN] {
            assert_eq!(Axis::across(&odd, 70).bounds, [0.0, 1.0], "{odd:?}");
        }
    }
}
