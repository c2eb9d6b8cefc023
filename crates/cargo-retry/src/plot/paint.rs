//! What is inside of the axes: bar, band, lines, limit, in this order.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Color;
use ratatui_core::symbols::Marker;
use ratatui_core::widgets::Widget as _;
use ratatui_widgets::canvas::{Canvas, Context, Line as Stroke, Points};
use reattempt_storm::draw::{Chart, Colour};

use super::Look;
use super::axis::Axis;

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

/// Sky blue, as in the pictures.
const BAND: u8 = 74;

/// Where there are no colours, these distinguish lines.
const SIGNS: [char; 5] = ['*', '+', 'x', 'o', '#'];

/// How something is drawn, on the grid and in the legend.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ink {
    pub(super) colour: Color,
    /// `None`: as fine as characters allow.
    pub(super) sign: Option<char>,
}

impl Ink {
    const fn marker(self) -> Marker {
        match self.sign {
            Some(sign) => Marker::Custom(sign),
            None => Marker::Braille,
        }
    }

    /// What stands before a name in the legend.
    pub(super) fn sample(self) -> String {
        let sign = self.sign.unwrap_or('⠒');
        [sign; 2].into_iter().collect()
    }

    /// For each of the things that are counted.
    fn dotted(self, look: Look) -> Self {
        let sign = self.sign.or(Some(if look.ascii { 'o' } else { '●' }));
        Self { sign, ..self }
    }

    pub(super) fn outage(look: Look) -> Self {
        Self {
            colour: Color::Indexed(240),
            sign: Some(if look.ascii { ':' } else { '░' }),
        }
    }

    pub(super) fn band(look: Look) -> Self {
        Self {
            colour: Color::Indexed(BAND),
            sign: Some(if look.ascii { '.' } else { '░' }),
        }
    }

    pub(super) fn limit(look: Look) -> Self {
        Self {
            colour: Color::Reset,
            sign: Some(if look.ascii { '-' } else { '╌' }),
        }
    }

    /// Of each line of `chart`.
    pub(super) fn lines(chart: &Chart, look: Look) -> impl Iterator<Item = Self> {
        // One line needs no sign of its own.
        let is_fine = !look.ascii && (look.colours || chart.lines.len() == 1);
        chart.colours().zip(SIGNS).map(move |(colour, sign)| Self {
            colour: Color::Indexed(indexed(colour)),
            sign: (!is_fine).then_some(sign),
        })
    }
}

pub(super) fn grid(
    chart: &Chart,
    look: Look,
    columns: u16,
    rows: u16,
    across: &Axis,
    upwards: &Axis,
) -> Buffer {
    let area = Rect::new(0, 0, columns, rows);
    let mut grid = Buffer::empty(area);
    let on = |grid: &mut Buffer, ink: Ink, paint: &dyn Fn(&mut Context<'_>)| {
        Canvas::default()
            .x_bounds(across.bounds)
            .y_bounds(upwards.bounds)
            .marker(ink.marker())
            .paint(paint)
            .render(area, grid);
    };
    let mut layer = |ink: Ink, paint: &dyn Fn(&mut Context<'_>)| on(&mut grid, ink, paint);
    let cells = Cells {
        columns,
        rows,
        across: across.bounds,
        upwards: upwards.bounds,
    };
    if let Some(outage) = &chart.outage {
        let ink = Ink::outage(look);
        let inside = cells.points(|x, _| outage.contains(&x));
        layer(ink, &|context| dots(context, &inside, ink));
    }
    if let Some(band) = &chart.band {
        let ink = Ink::band(look);
        let inside = cells.points(|x, y| {
            at(&band.points, x, cells.half())
                .is_some_and(|(least, most)| (least..=most).contains(&y))
        });
        // Its borders besides: a band may be thinner than a character.
        let least: Vec<_> = band
            .points
            .iter()
            .map(|&(x, least, _)| (x, least))
            .collect();
        let most: Vec<_> = band.points.iter().map(|&(x, _, most)| (x, most)).collect();
        layer(ink, &|context| {
            dots(context, &inside, ink);
            strokes(context, &least, ink);
            strokes(context, &most, ink);
        });
    }
    for (line, ink) in chart.lines.iter().zip(Ink::lines(chart, look)) {
        layer(ink, &|context| strokes(context, &line.points, ink));
        if chart.counts {
            let ink = ink.dotted(look);
            layer(ink, &|context| dots(context, &line.points, ink));
        }
    }
    if chart.layered {
        let alone = chart.lines.iter().zip(Ink::lines(chart, look));
        let alone = alone.map(|(line, ink)| {
            let mut grid = Buffer::empty(area);
            on(&mut grid, ink, &|context| {
                strokes(context, &line.points, ink);
            });
            grid
        });
        take_turns(&mut grid, &alone.collect::<Vec<_>>());
    }
    if let Some(limit) = &chart.limit {
        let ink = Ink::limit(look);
        let [start, end] = across.bounds;
        on(&mut grid, ink, &|context| {
            context.draw(&Stroke::new(start, limit.at, end, limit.at, ink.colour));
        });
    }
    grid
}

/// Where several lines are in one character, each has it now and then.
fn take_turns(grid: &mut Buffer, lines: &[Buffer]) {
    for place in grid.area.positions() {
        let there = lines.iter().filter_map(|line| line.cell(place));
        let there: Vec<_> = there.filter(|cell| cell.symbol().trim() != "").collect();
        let turn = usize::from(place.x).checked_rem(there.len());
        if let Some(cell) = turn.and_then(|turn| there.get(turn))
            && let Some(taken) = grid.cell_mut(place)
        {
            taken.set_symbol(cell.symbol()).set_fg(cell.fg);
        }
    }
}

fn dots(context: &mut Context<'_>, points: &[(f64, f64)], ink: Ink) {
    context.draw(&Points::new(points, ink.colour));
}

fn strokes(context: &mut Context<'_>, points: &[(f64, f64)], ink: Ink) {
    for (&(x1, y1), &(x2, y2)) in points.iter().zip(points.iter().skip(1)) {
        context.draw(&Stroke::new(x1, y1, x2, y2, ink.colour));
    }
    dots(context, points, ink);
}

/// The band at `x`: its two borders, straight between the points that are given.
/// A little beyond its ends, `half` a character, it is as it is there.
fn at(points: &[(f64, f64, f64)], x: f64, half: f64) -> Option<(f64, f64)> {
    let ends = [points.first()?, points.last()?];
    let near = |end: &&&(f64, f64, f64)| (x - end.0).abs() <= half;
    if let Some((_, least, most)) = ends.iter().find(near) {
        return Some((*least, *most));
    }
    let pairs = points.iter().zip(points.iter().skip(1));
    let mut around = pairs.filter(|(left, right)| (left.0..=right.0).contains(&x));
    let (left, right) = around.next()?;
    let part = (x - left.0) / (right.0 - left.0).max(f64::MIN_POSITIVE);
    let between = |left: f64, right: f64| left + (right - left) * part;
    Some((between(left.1, right.1), between(left.2, right.2)))
}

/// The characters of the grid.
struct Cells {
    columns: u16,
    rows: u16,
    across: [f64; 2],
    upwards: [f64; 2],
}

impl Cells {
    /// Half the width of a character.
    fn half(&self) -> f64 {
        let [start, end] = self.across;
        (end - start) / f64::from(self.columns.max(2)) * 0.51
    }

    /// The middles of those that `is_inside`.
    fn points(&self, is_inside: impl Fn(f64, f64) -> bool) -> Vec<(f64, f64)> {
        let middle = |[start, end]: [f64; 2], cell: u16, cells: u16| {
            let last = f64::from(cells.saturating_sub(1)).max(1.0);
            start + (end - start) * f64::from(cell) / last
        };
        let columns = (0..self.columns).map(|column| middle(self.across, column, self.columns));
        let rows = |x| (0..self.rows).map(move |row| (x, middle(self.upwards, row, self.rows)));
        let all = columns.flat_map(rows);
        all.filter(|&(x, y)| is_inside(x, y)).collect()
    }
}
