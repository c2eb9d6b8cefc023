//! What stands around the grid: title, axes, legend. And the escape codes.

use std::fmt::Write as _;

use anstyle::{Ansi256Color, Color as Ansi, Style};
use ratatui_core::buffer::Buffer;
use ratatui_core::style::Color;
use reattempt_storm::draw::Chart;

use super::Look;
use super::axis::Axis;
use super::paint::Ink;

/// The texts around a grid.
pub(super) struct Frame<'a> {
    chart: &'a Chart,
    look: Look,
    legend: Vec<(Ink, &'a str)>,
    /// Lines of the grid.
    pub(super) rows: u16,
}

/// Lines besides the grid and the legend: title, label of the vertical axis, the axis, its numbers, label of the horizontal axis.
const AROUND: u16 = 5;

impl<'a> Frame<'a> {
    pub(super) fn new(chart: &'a Chart, look: Look) -> Self {
        let mut legend = Vec::new();
        let trigger = match &*chart.trigger {
            "" => "outage",
            name => name,
        };
        legend.extend(chart.outage.iter().map(|_| (Ink::outage(look), trigger)));
        legend.extend(chart.band.iter().map(|it| (Ink::band(look), &*it.name)));
        let lines = chart.lines.iter().zip(Ink::lines(chart, look));
        legend.extend(lines.map(|(line, ink)| (ink, &*line.name)));
        legend.extend(chart.limit.iter().map(|it| (Ink::limit(look), &*it.name)));
        let mut frame = Self {
            chart,
            look,
            legend,
            rows: 0,
        };
        let taken = AROUND.saturating_add(u16::try_from(frame.legend().len()).unwrap_or(u16::MAX));
        frame.rows = look.height.saturating_sub(taken).max(4);
        frame
    }

    /// The legend in as few lines as it takes.
    fn legend(&self) -> Vec<String> {
        let mut rows: Vec<(usize, String)> = Vec::new();
        for (ink, name) in &self.legend {
            let entry = format!("{} {name}", self.inked(&ink.sample(), ink.colour));
            let width = name.chars().count().saturating_add(6);
            match rows.last_mut() {
                Some((used, row)) if used.saturating_add(width) <= usize::from(self.look.width) => {
                    *used = used.saturating_add(width);
                    row.push_str("   ");
                    row.push_str(&entry);
                }
                _ => rows.push((width, format!("  {entry}"))),
            }
        }
        rows.into_iter().map(|(_, row)| row).collect()
    }

    pub(super) fn around(
        &self,
        grid: &Buffer,
        across: &Axis,
        upwards: &Axis,
        margin: u16,
    ) -> String {
        let (wall, tick, floor, corner, mark) = if self.look.ascii {
            ('|', '+', '-', '+', '+')
        } else {
            ('│', '┤', '─', '└', '┴')
        };
        let margin = usize::from(margin).saturating_add(1);
        let mut lines = vec![
            self.bold(&self.chart.title),
            format!(" {}", self.chart.upwards),
        ];
        let labels = upwards.labels();
        for row in 0..self.rows {
            let height = self.rows.saturating_sub(row).saturating_sub(1);
            let label = labels.iter().find(|label| label.at == height);
            let (text, wall) = label.map_or(("", wall), |label| (&label.text, tick));
            lines.push(format!("{text:>margin$}{wall}{}", self.row(grid, row)));
        }
        let columns = usize::from(grid.area.width);
        let mut ground = vec![floor; columns];
        let mut numbers = vec![' '; columns.saturating_add(1)];
        for label in across.labels() {
            let at = usize::from(label.at);
            if let Some(cell) = ground.get_mut(at) {
                *cell = mark;
            }
            let width = label.text.len();
            // The last one ends where the axis does.
            let start = at
                .saturating_sub(width / 2)
                .min(columns.saturating_sub(width));
            for (cell, digit) in numbers.iter_mut().skip(start).zip(label.text.chars()) {
                *cell = digit;
            }
        }
        let ground: String = ground.into_iter().collect();
        let numbers: String = numbers.into_iter().collect();
        lines.push(format!("{:margin$}{corner}{ground}", ""));
        lines.push(format!("{:margin$} {}", "", numbers.trim_end()));
        lines.push(format!(
            "{:>1$}",
            self.chart.across,
            margin.saturating_add(columns).saturating_add(1)
        ));
        lines.extend(self.legend());
        lines.push(String::new());
        lines.join("\n")
    }

    /// A line of the grid.
    fn row(&self, grid: &Buffer, row: u16) -> String {
        let cells = (0..grid.area.width).filter_map(|column| grid.cell((column, row)));
        let mut pieces: Vec<(Color, String)> = Vec::new();
        for cell in cells {
            match pieces.last_mut() {
                Some((colour, text)) if *colour == cell.fg => text.push_str(cell.symbol()),
                _ => pieces.push((cell.fg, cell.symbol().to_owned())),
            }
        }
        if let Some((_, last)) = pieces.last_mut() {
            *last = last.trim_end().to_owned();
        }
        let inked = |(colour, text): &(Color, String)| self.inked(text, *colour);
        pieces.iter().map(inked).collect()
    }

    fn inked(&self, text: &str, colour: Color) -> String {
        match colour {
            Color::Indexed(index) if self.look.colours && !text.trim().is_empty() => {
                let style = Style::new().fg_color(Some(Ansi::Ansi256(Ansi256Color(index))));
                styled(text, style)
            }
            _ => text.to_owned(),
        }
    }

    fn bold(&self, text: &str) -> String {
        if self.look.colours {
            styled(text, Style::new().bold())
        } else {
            text.to_owned()
        }
    }
}

fn styled(text: &str, style: Style) -> String {
    let mut out = String::new();
    // Writing to a `String` does not fail.
    _ = write!(out, "{style}{text}{style:#}");
    out
}
