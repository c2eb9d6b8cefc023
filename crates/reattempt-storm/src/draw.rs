//! Lines over time as pictures: what they show. How that looks is in `chart`, what is shown in `pictures`.

mod chart;
mod svg;

use std::borrow::Cow;
use std::ops::Range;

pub use svg::Svg;

/// A colour that people who see few colours distinguish from the others, too (after Okabe and Ito).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "colours")]
pub enum Colour {
    Grey,
    Vermilion,
    Orange,
    Blue,
    Green,
}

impl Colour {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Grey,
        Self::Vermilion,
        Self::Orange,
        Self::Blue,
        Self::Green,
    ];
}

/// A line and its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What stands over its panel.
    pub name: Cow<'static, str>,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
}

/// A picture with a panel for each line, one below the other, all of one scale: no line hides another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// What stands over it.
    pub title: Cow<'static, str>,
    /// The label of the horizontal axis.
    pub across: Cow<'static, str>,
    /// The label of the vertical axis.
    pub upwards: Cow<'static, str>,
    /// Where a grey bar stands behind the lines.
    pub outage: Option<Range<f64>>,
    /// The name of that bar; `outage` if it is empty.
    pub trigger: Cow<'static, str>,
    /// At most five.
    pub lines: Vec<Line>,
    /// Of the lines, in their order; those of [`Colour::ALL`] where none is given.
    pub colours: Vec<Colour>,
}

impl Chart {
    /// Returns the colour of each line.
    pub fn colours(&self) -> impl Iterator<Item = Colour> {
        let all: &[Colour] = match &*self.colours {
            [] => &Colour::ALL,
            given => given,
        };
        all.iter().copied()
    }

    /// Returns the name of the grey bar.
    pub fn trigger(&self) -> &str {
        match &*self.trigger {
            "" => "outage",
            name => name,
        }
    }

    /// Returns how far the axes go: across from 0 to the last point, and a little above the highest point.
    pub fn extent(&self) -> (Range<f64>, f64) {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let (right, top) = points.fold((0.0, 0.0), |(right, top): (f64, f64), &(x, y)| {
            (right.max(x), top.max(y))
        });
        (0.0..right, top * 1.05)
    }
}

/// Returns the distance of the numbers along an axis: the least of 1, 2, 2.5 and 5 times a power of ten of which `span`
/// has at most `most`.
pub fn step(span: f64, most: f64) -> f64 {
    let raw = span / most;
    let power = 10_f64.powf(raw.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    let fits = |step: &f64| *step >= raw * (1.0 - 1e-9);
    steps.into_iter().find(fits).unwrap_or(raw)
}

/// Returns the numbers along an axis from 0 to `end`, at most `most` after 0, as they are written. Of an axis without a
/// length there is 0 alone.
pub fn ticks(end: f64, most: f64) -> Vec<(f64, String)> {
    let step = step(end, most);
    if !(step.is_finite() && step > 0.0) {
        return vec![(0.0, "0".to_owned())];
    }
    let values = (0..64_u8).map(|n| f64::from(n) * step);
    let inside = values.take_while(|value| *value <= end * (1.0 + 1e-9));
    // Without what multiplying has made of it.
    inside
        .map(|value| (value, ((value * 1e9).round() / 1e9).to_string()))
        .collect()
}

#[cfg(test)]
mod tests;
