//! What a picture looks like.

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::{
    ChartBuilder, Circle, Color as _, DashedLineSeries, DrawingArea, IntoDrawingArea as _,
    LineSeries, PathElement, Polygon, RGBColor, Rectangle, SVGBackend, Text,
};
use plotters::style::{BLACK, TRANSPARENT, WHITE};

use super::{Chart, Colour};

const SIZE: (u32, u32) = (900, 360);

/// Where the plot ends and the legend begins.
const PLOT: u32 = 690;

const FONT: &str = "sans-serif";

/// Of axes and legend. The file has them divided by 1.24, and so 12 and 13 pixels.
const AXIS: u32 = 15;
const LEGEND: u32 = 16;

/// Sky blue, thinned: lines are seen over it.
const BAND: RGBColor = RGBColor(187, 225, 246);

/// Behind the lines, too.
const TRIGGER: RGBColor = RGBColor(225, 225, 225);

impl Colour {
    const fn rgb(self) -> RGBColor {
        match self {
            Self::Grey => RGBColor(120, 120, 120),
            Self::Vermilion => RGBColor(213, 94, 0),
            Self::Orange => RGBColor(230, 159, 0),
            Self::Blue => RGBColor(0, 114, 178),
            Self::Green => RGBColor(0, 158, 115),
        }
    }
}

impl Chart {
    fn draw(&self, area: &Area<'_>) -> Result<(), Box<dyn Error>> {
        let (across, top) = self.extent();
        let (plot, legend) = area.split_horizontally(PLOT);
        let mut chart = ChartBuilder::on(&plot)
            .caption(&*self.title, (FONT, 20))
            .margin(10)
            .x_label_area_size(42)
            .y_label_area_size(62)
            .build_cartesian_2d(across.clone(), 0.0..top)?;
        if let Some(outage) = &self.outage {
            let corners = [(outage.start, 0.0), (outage.end, top)];
            chart.draw_series([Rectangle::new(corners, TRIGGER.filled())])?;
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
            .label_style((FONT, AXIS))
            .x_labels(columns)
            .x_label_formatter(&label)
            .y_label_formatter(&|y| number(*y))
            .x_desc(&*self.across)
            .y_desc(&*self.upwards)
            .draw()?;
        let mut next = 28_i32;
        let mut row = || {
            next = next.saturating_add(22);
            next
        };
        if self.outage.is_some() && !self.trigger.is_empty() {
            let y = row();
            let field = [(0, y.saturating_sub(6)), (20, y.saturating_add(6))];
            legend.draw(&Rectangle::new(field, TRIGGER.filled()))?;
            named(&legend, &self.trigger, y)?;
        }
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
            named(&legend, &band.name, y)?;
        }
        let mut above = u32::try_from(self.lines.len())?;
        for (line, colour) in self.lines.iter().zip(self.colours()) {
            above = above.saturating_sub(1);
            let broader = if self.layered {
                above.saturating_mul(2)
            } else {
                0
            };
            let style = colour.rgb().stroke_width(broader.saturating_add(2));
            let points = line.points.iter().copied();
            chart.draw_series(LineSeries::new(points.clone(), style))?;
            if self.counts {
                let dots = points.map(|point| Circle::new(point, 3, colour.rgb().filled()));
                chart.draw_series(dots)?;
            }
            let y = row();
            legend.draw(&PathElement::new([(0, y), (20, y)], style))?;
            named(&legend, &line.name, y)?;
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
            named(&legend, &limit.name, y)?;
        }
        Ok(())
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
    Ok(titled(&text, charts))
}

/// With what a screen reader says.
fn titled(svg: &str, charts: &[Chart]) -> String {
    let titles: Vec<&str> = charts.iter().map(|chart| &*chart.title).collect();
    let title = titles
        .join("; ")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let named = svg.replacen("<svg ", "<svg role=\"img\" ", 1);
    named.replacen(">\n", &format!(">\n<title>{title}</title>\n"), 1)
}

/// A number of an axis, without what adding up has made of it.
fn number(value: f64) -> String {
    ((value * 1e9).round() / 1e9).to_string()
}

fn named(legend: &Area<'_>, name: &str, y: i32) -> Result<(), Box<dyn Error>> {
    let place = (28, y.saturating_sub(6));
    legend.draw(&Text::new(name.to_owned(), place, (FONT, LEGEND)))?;
    Ok(())
}
