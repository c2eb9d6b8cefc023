//! Lines over time as SVG: what a picture looks like. What it shows is in `pictures`.

use std::borrow::Cow;
use std::error::Error;
use std::ops::Range;

use plotters::prelude::{
    ChartBuilder, Color as _, IntoDrawingArea as _, LineSeries, PathElement, RGBColor, Rectangle,
    SVGBackend, Text,
};
use plotters::style::{TRANSPARENT, WHITE};

const SIZE: (u32, u32) = (900, 360);

/// Where the plot ends and the legend begins.
const PLOT: u32 = 690;

const FONT: &str = "sans-serif";

/// Told apart by those, too, who see few colours (Okabe and Ito).
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

    /// Red, green and blue.
    pub const fn rgb(self) -> (u8, u8, u8) {
        match self {
            Self::Grey => (120, 120, 120),
            Self::Vermilion => (213, 94, 0),
            Self::Orange => (230, 159, 0),
            Self::Blue => (0, 114, 178),
            Self::Green => (0, 158, 115),
        }
    }
}

/// A line and its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What the legend says.
    pub name: Cow<'static, str>,
    /// Its colour.
    pub colour: Colour,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
}

impl Line {
    /// Lines of these names and points, each in a colour of its own: no more than there are colours.
    pub fn all<N: Into<Cow<'static, str>>>(
        lines: impl IntoIterator<Item = (N, Vec<(f64, f64)>)>,
    ) -> Vec<Self> {
        let line = |((name, points), colour): ((N, _), _)| Self {
            name: name.into(),
            colour,
            points,
        };
        lines.into_iter().zip(Colour::ALL).map(line).collect()
    }
}

/// A picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What stands over it.
    pub title: Cow<'static, str>,
    /// What is told from left to right.
    pub across: Cow<'static, str>,
    /// What is told upwards.
    pub upwards: Cow<'static, str>,
    /// Where a grey bar stands behind the lines.
    pub outage: Option<Range<f64>>,
    /// What it shows.
    pub lines: Vec<Line>,
}

impl Chart {
    /// The picture as SVG: the same bytes for the same lines.
    ///
    /// # Errors
    ///
    /// When the lines cannot be drawn, as without a point.
    pub fn svg(&self) -> Result<String, Box<dyn Error>> {
        let mut text = String::new();
        let (right, top) = self.extent();
        {
            let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            area.fill(&WHITE)?;
            let (plot, legend) = area.split_horizontally(PLOT);
            let mut chart = ChartBuilder::on(&plot)
                .caption(&*self.title, (FONT, 18))
                .margin(10)
                .x_label_area_size(38)
                .y_label_area_size(56)
                .build_cartesian_2d(0.0..right, 0.0..top)?;
            if let Some(outage) = &self.outage {
                let corners = [(outage.start, 0.0), (outage.end, top)];
                let grey = RGBColor(225, 225, 225).filled();
                chart.draw_series([Rectangle::new(corners, grey)])?;
            }
            chart
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(RGBColor(235, 235, 235))
                .label_style((FONT, 12))
                .x_labels(8)
                .x_label_formatter(&f64::to_string)
                .y_label_formatter(&f64::to_string)
                .x_desc(&*self.across)
                .y_desc(&*self.upwards)
                .draw()?;
            for (line, place) in self.lines.iter().zip(0..) {
                let (red, green, blue) = line.colour.rgb();
                let style = RGBColor(red, green, blue).stroke_width(2);
                let points = line.points.iter().copied();
                chart.draw_series(LineSeries::new(points, style))?;
                let y = 22_i32.saturating_mul(place).saturating_add(50);
                legend.draw(&PathElement::new([(0, y), (20, y)], style))?;
                legend.draw(&Text::new(
                    &*line.name,
                    (28, y.saturating_sub(6)),
                    (FONT, 13),
                ))?;
            }
            area.present()?;
        }
        Ok(text)
    }

    /// How far the axes go: a little above the highest point.
    fn extent(&self) -> (f64, f64) {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let (right, top) = points.fold((0.0, 0.0), |(right, top): (f64, f64), &(x, y)| {
            (right.max(x), top.max(y))
        });
        (right, top * 1.05)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_drawn_and_named() {
        let line = |name, y| (name, vec![(0.0, 0.0), (1.0, y)]);
        let chart = Chart {
            title: "a title".into(),
            across: "s".into(),
            upwards: "attempts/s".into(),
            outage: Some(0.2..0.4),
            lines: Line::all([line("one", 1.0), line("two", 2.0)]),
        };
        let svg = chart.svg().expect("it can be drawn");
        for word in ["a title", "attempts/s", "one", "two", "#787878", "#D55E00"] {
            assert!(svg.contains(word), "{word}");
        }
        assert_eq!(svg, chart.svg().expect("it can be drawn"));
    }
}
