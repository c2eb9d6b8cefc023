//! Lines over time as pictures: what they show. How that looks is in `svg`, what is shown in `pictures`.

mod svg;

use std::borrow::Cow;
use std::error::Error;
use std::ops::Range;

pub use svg::svg;

/// People who see few colours distinguish them, too (Okabe and Ito).
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
    /// What the legend says.
    pub name: Cow<'static, str>,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
}

/// What lies between two lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// What the legend says.
    pub name: Cow<'static, str>,
    /// From left to right: across, the least, the most.
    pub points: Vec<(f64, f64, f64)>,
}

/// A level that nothing passes.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// What the legend says.
    pub name: Cow<'static, str>,
    /// How high it is.
    pub at: f64,
}

/// A picture.
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
    /// What the legend calls that bar; empty, it is not in the legend of a picture.
    pub trigger: Cow<'static, str>,
    /// Behind the lines.
    pub band: Option<Band>,
    /// Over the lines.
    pub limit: Option<Limit>,
    /// At most five.
    pub lines: Vec<Line>,
    /// Of the lines, in their order; those of [`Colour::ALL`] where none is given.
    pub colours: Vec<Colour>,
    /// Whether lines lie on one another: the first are broader then, so that they are seen below the others.
    pub layered: bool,
    /// Whether things are counted from left to right: the axis begins at the first, and has whole numbers.
    pub counts: bool,
}

impl Chart {
    /// The picture as SVG: the same bytes for the same lines.
    ///
    /// # Errors
    ///
    /// When the lines cannot be drawn, as without a point.
    pub fn svg(&self) -> Result<String, Box<dyn Error>> {
        svg(std::slice::from_ref(self))
    }

    /// The colour of each line.
    pub fn colours(&self) -> impl Iterator<Item = Colour> {
        let all: &[Colour] = match &*self.colours {
            // Grey would be lost on a band.
            [] => Colour::ALL
                .get(usize::from(self.band.is_some())..)
                .unwrap_or_default(),
            given => given,
        };
        all.iter().copied()
    }

    /// How far the axes go: across from end to end, and a little above the highest point.
    pub fn extent(&self) -> (Range<f64>, f64) {
        let lines = self.lines.iter().flat_map(|line| &line.points).copied();
        let band = self.band.iter().flat_map(|band| &band.points);
        let points = lines.chain(band.map(|&(x, _, most)| (x, most)));
        let (left, right, top) = points.fold(
            (f64::INFINITY, 0.0, 0.0),
            |(left, right, top): (f64, f64, f64), (x, y)| (left.min(x), right.max(x), top.max(y)),
        );
        let top = self.limit.iter().fold(top, |top, limit| top.max(limit.at));
        let across = match self.counts {
            true if left < right => left..right,
            true if left <= right => left - 0.5..right + 0.5,
            _ => 0.0..right,
        };
        (across, top * 1.05)
    }
}

#[cfg(test)]
mod tests;
