//! What a chart looks like.

use std::fmt::Write as _;

use super::{Chart, Colour, Line, Svg, ticks};

/// Where the panels begin and end.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 876.0;

/// Of a panel, and from one to the next: the name stands between.
const HEIGHT: f64 = 84.0;
const STEP: f64 = 134.0;
const FIRST: f64 = 116.0;

impl Colour {
    /// Returns its name in an [`Svg`].
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Grey => "grey",
            Self::Vermilion => "vermilion",
            Self::Orange => "orange",
            Self::Blue => "blue",
            Self::Green => "green",
        }
    }
}

impl Chart {
    /// Returns the picture as SVG: the same bytes for the same lines.
    pub fn svg(&self) -> String {
        let (across, top) = self.extent();
        let scale = Scale {
            right: positive(across.end),
            top: positive(top),
        };
        let panel = |number: u32| f64::from(number).mul_add(STEP, FIRST);
        let count = u32::try_from(self.lines.len()).unwrap_or(u32::MAX);
        let bottom = panel(count.saturating_sub(1)) + HEIGHT;
        let mut svg = Svg::new(bottom + 70.0, &self.title);
        svg.text("title", 24.0, 42.0, &self.title);
        svg.text("soft end", RIGHT, 42.0, &self.upwards);
        for (number, (line, colour)) in (0_u32..).zip(self.lines.iter().zip(self.colours())) {
            self.panel(&mut svg, panel(number), &scale, line, colour);
        }
        for (value, text) in ticks(scale.right, 8.0) {
            svg.text("soft middle", scale.x(value), bottom + 25.0, &text);
        }
        if let Some(outage) = &self.outage {
            let middle = scale.x(f64::midpoint(outage.start, outage.end));
            svg.text("soft middle", middle, bottom + 52.0, self.trigger());
        }
        svg.text("soft end", RIGHT, bottom + 52.0, &self.across);
        svg.end()
    }

    fn panel(&self, svg: &mut Svg, top: f64, scale: &Scale, line: &Line, colour: Colour) {
        let floor = top + HEIGHT;
        svg.text("name", LEFT, top - 12.0, &line.name);
        if let Some(outage) = &self.outage {
            let (start, end) = (scale.x(outage.start), scale.x(outage.end));
            svg.field("outage", (start, top), (end, floor));
        }
        for (value, text) in ticks(scale.top, 3.0) {
            let y = scale.y(value, floor);
            svg.text("soft end", LEFT - 10.0, y + 6.0, &text);
            svg.add(format_args!(
                r#"<path d="M{LEFT} {y:.1}H{RIGHT}" style="stroke:var(--soft);stroke-opacity:.4"/>"#
            ));
        }
        let mut path = String::new();
        for &(x, y) in &line.points {
            let letter = if path.is_empty() { 'M' } else { 'L' };
            // Writing to a `String` does not fail.
            _ = write!(path, "{letter}{:.1} {:.1}", scale.x(x), scale.y(y, floor));
        }
        svg.add(format_args!(
            r#"<path d="{path}" style="fill:none;stroke:var(--{});stroke-width:3;stroke-linejoin:round"/>"#,
            colour.as_str()
        ));
    }
}

/// From values to places.
struct Scale {
    right: f64,
    top: f64,
}

impl Scale {
    fn x(&self, value: f64) -> f64 {
        (RIGHT - LEFT).mul_add(value / self.right, LEFT)
    }

    fn y(&self, value: f64, floor: f64) -> f64 {
        HEIGHT.mul_add(-value / self.top, floor)
    }
}

/// An axis has a length.
fn positive(end: f64) -> f64 {
    if end > 0.0 && end.is_finite() {
        end
    } else {
        1.0
    }
}
