//! What is inside of the axes: the bar of the outage, and a line.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Color;
use ratatui_core::symbols::Marker;
use ratatui_core::widgets::Widget as _;
use ratatui_widgets::canvas::{Canvas, Context, Line as Stroke, Points};
use reattempt_storm::draw::{Chart, Colour, Line};

use super::{Axis, Look};

/// Those of Okabe and Ito, in the palette that terminals have had for long.
pub(crate) const fn indexed(colour: Colour) -> u8 {
    match colour {
        Colour::Grey => 245,
        Colour::Vermilion => 166,
        Colour::Orange => 214,
        Colour::Blue => 32,
        Colour::Green => 36,
    }
}

/// What the bar of an outage consists of.
pub(super) const fn outage(look: Look) -> char {
    if look.ascii { ':' } else { '░' }
}

/// A panel of the chart: a line, the outage behind it.
pub(super) fn grid(
    chart: &Chart,
    line: &Line,
    colour: Colour,
    look: Look,
    across: &Axis,
    upwards: &Axis,
) -> Buffer {
    let area = Rect::new(0, 0, across.cells, upwards.cells);
    let mut grid = Buffer::empty(area);
    let mut layer = |marker: Marker, paint: &dyn Fn(&mut Context<'_>)| {
        Canvas::default()
            .x_bounds(across.bounds)
            .y_bounds(upwards.bounds)
            .marker(marker)
            .paint(paint)
            .render(area, &mut grid);
    };
    if let Some(bar) = &chart.outage {
        let columns = across.middles().filter(|x| bar.contains(x));
        let cells: Vec<_> = columns
            .flat_map(|x| upwards.middles().map(move |y| (x, y)))
            .collect();
        layer(Marker::Custom(outage(look)), &|context| {
            context.draw(&Points::new(&cells, Color::Indexed(240)));
        });
    }
    // As fine as characters allow.
    let marker = if look.ascii {
        Marker::Custom('*')
    } else {
        Marker::Braille
    };
    let colour = Color::Indexed(indexed(colour));
    layer(marker, &|context| {
        let points = &line.points;
        for (&(x1, y1), &(x2, y2)) in points.iter().zip(points.iter().skip(1)) {
            context.draw(&Stroke::new(x1, y1, x2, y2, colour));
        }
        context.draw(&Points::new(points, colour));
    });
    grid
}
