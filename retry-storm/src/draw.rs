//! Lines over time as SVG: what a picture looks like. What it shows is in `pictures`.

use std::error::Error;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::{
    ChartBuilder, Circle, Color as _, DashedLineSeries, DrawingArea, IntoDrawingArea as _,
    LineSeries, PathElement, Polygon, RGBColor, Rectangle, SVGBackend, Text,
};
use plotters::style::{BLACK, TRANSPARENT, WHITE};

const SIZE: (u32, u32) = (900, 360);

/// Where the plot ends and the legend begins.
const PLOT: u32 = 690;

const FONT: &str = "sans-serif";

/// Told apart by those, too, who see few colours (Okabe and Ito).
const COLOURS: [RGBColor; 5] = [
    RGBColor(120, 120, 120),
    RGBColor(213, 94, 0),
    RGBColor(230, 159, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
];

/// Sky blue, thinned: lines are seen over it.
const BAND: RGBColor = RGBColor(187, 225, 246);

/// A line and its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What the legend says.
    pub name: &'static str,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
}

/// What lies between two lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// What the legend says.
    pub name: &'static str,
    /// From left to right: across, the least, the most.
    pub points: Vec<(f64, f64, f64)>,
}

/// A level that nothing passes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// What the legend says.
    pub name: &'static str,
    /// How high it is.
    pub at: f64,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// What stands over it.
    pub title: &'static str,
    /// What is told from left to right.
    pub across: &'static str,
    /// What is told upwards.
    pub upwards: &'static str,
    /// Where a grey bar stands behind the lines.
    pub outage: Option<Range<f64>>,
    /// Behind the lines.
    pub band: Option<Band>,
    /// Over the lines.
    pub limit: Option<Limit>,
    /// At most five.
    pub lines: Vec<Line>,
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

    fn draw(&self, area: &Area<'_>) -> Result<(), Box<dyn Error>> {
        let (across, top) = self.extent();
        let (plot, legend) = area.split_horizontally(PLOT);
        let mut chart = ChartBuilder::on(&plot)
            .caption(self.title, (FONT, 18))
            .margin(10)
            .x_label_area_size(38)
            .y_label_area_size(56)
            .build_cartesian_2d(across.clone(), 0.0..top)?;
        if let Some(outage) = &self.outage {
            let corners = [(outage.start, 0.0), (outage.end, top)];
            let grey = RGBColor(225, 225, 225).filled();
            chart.draw_series([Rectangle::new(corners, grey)])?;
        }
        let label = |x: &f64| {
            if self.counts && x.fract() != 0.0 {
                String::new()
            } else {
                number(*x)
            }
        };
        let things = across.end - across.start + 1.0;
        let fits = |labels: &u8| !self.counts || f64::from(*labels) <= things;
        let columns = (1..=8).filter(fits).count();
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(235, 235, 235))
            .label_style((FONT, 12))
            .x_labels(columns)
            .x_label_formatter(&label)
            .y_label_formatter(&|y| number(*y))
            .x_desc(self.across)
            .y_desc(self.upwards)
            .draw()?;
        let mut rows = std::iter::successors(Some(50_i32), |y| y.checked_add(22));
        let mut row = || rows.next().unwrap_or_default();
        if let Some(band) = &self.band {
            let there = band.points.iter().map(|&(x, least, _)| (x, least));
            let back = band.points.iter().rev().map(|&(x, _, most)| (x, most));
            let corners: Vec<_> = there.chain(back).collect();
            chart.draw_series([Polygon::new(corners, BAND.filled())])?;
            // A single one has no width.
            if let [(x, least, most)] = *band.points.as_slice() {
                let ends = [(x, least), (x, most)];
                chart.draw_series([PathElement::new(ends, BAND.stroke_width(8))])?;
            }
            let y = row();
            let field = [(0, y.saturating_sub(6)), (20, y.saturating_add(6))];
            legend.draw(&Rectangle::new(field, BAND.filled()))?;
            named(&legend, band.name, y)?;
        }
        // Grey would be lost on a band.
        let colours = COLOURS.iter().skip(usize::from(self.band.is_some()));
        for (line, colour) in self.lines.iter().zip(colours) {
            let style = colour.stroke_width(2);
            let points = line.points.iter().copied();
            chart.draw_series(LineSeries::new(points.clone(), style))?;
            if self.counts {
                let dots = points.map(|point| Circle::new(point, 3, colour.filled()));
                chart.draw_series(dots)?;
            }
            let y = row();
            legend.draw(&PathElement::new([(0, y), (20, y)], style))?;
            named(&legend, line.name, y)?;
        }
        if let Some(limit) = &self.limit {
            let style = BLACK.stroke_width(1);
            let ends = [(across.start, limit.at), (across.end, limit.at)];
            chart.draw_series(DashedLineSeries::new(ends, 6, 4, style))?;
            let y = row();
            for start in [0_i32, 8, 16] {
                let dash = [(start, y), (start.saturating_add(4), y)];
                legend.draw(&PathElement::new(dash, style))?;
            }
            named(&legend, limit.name, y)?;
        }
        Ok(())
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

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Pictures, one below the other, as one SVG.
///
/// # Errors
///
/// When one of them cannot be drawn, as without a point.
pub fn svg(charts: &[Chart]) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    {
        let rows = u32::try_from(charts.len())?;
        let size = (SIZE.0, SIZE.1.saturating_mul(rows));
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE)?;
        for (chart, part) in charts.iter().zip(area.split_evenly((charts.len(), 1))) {
            chart.draw(&part)?;
        }
        area.present()?;
    }
    Ok(text)
}

/// A number of an axis, without what adding up has made of it.
fn number(value: f64) -> String {
    ((value * 1e9).round() / 1e9).to_string()
}

fn named(legend: &Area<'_>, name: &str, y: i32) -> Result<(), Box<dyn Error>> {
    let place = (28, y.saturating_sub(6));
    legend.draw(&Text::new(name.to_owned(), place, (FONT, 13)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_drawn_and_named() {
        let line = |name, y| Line {
            name,
            points: vec![(0.0, 0.0), (1.0, y)],
        };
        let chart = Chart {
            title: "a title",
            across: "s",
            upwards: "attempts/s",
            outage: Some(0.2..0.4),
            lines: vec![line("one", 1.0), line("two", 2.0)],
            ..Chart::default()
        };
        let svg = chart.svg().expect("it can be drawn");
        for word in ["a title", "attempts/s", "one", "two", "#787878", "#D55E00"] {
            assert!(svg.contains(word), "{word}");
        }
        assert_eq!(svg, chart.svg().expect("it can be drawn"));
    }

    #[test]
    fn a_band_and_a_limit_are_within_the_picture_and_named() {
        let band = Band {
            name: "the band",
            points: vec![(1.0, 0.0, 20.0), (2.0, 10.0, 40.0)],
        };
        let limit = Limit {
            name: "the limit",
            at: 50.0,
        };
        let chart = Chart {
            band: Some(band),
            limit: Some(limit),
            counts: true,
            ..Chart::default()
        };
        assert_eq!(chart.extent(), (1.0..2.0, 52.5));
        let text = svg(&[chart.clone(), chart]).expect("it can be drawn");
        for word in ["the band", "the limit", "<polygon", "#BBE1F6"] {
            assert_eq!(text.matches(word).count() % 2, 0, "{word}");
            assert!(text.contains(word), "{word}");
        }
        assert!(text.lines().all(|line| line != "1.5"), "no half of a thing");
    }
}
