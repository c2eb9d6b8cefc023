//! Rows and axes as text, and the escape codes.

use std::fmt::Write as _;

use anstyle::{Ansi256Color, Color as Ansi, Style};
use ratatui_core::buffer::Buffer;
use ratatui_core::style::Color;

use super::{Axis, Look};

/// The characters of a row of the grid, each with its colour in the palette of terminals.
pub(super) fn cells(grid: &Buffer, row: u16) -> Vec<(char, Option<u8>)> {
    let cells = (0..grid.area.width).filter_map(|column| grid.cell((column, row)));
    let cell = cells.map(|cell| {
        let colour = match cell.fg {
            Color::Indexed(index) => Some(index),
            _ => None,
        };
        (cell.symbol().chars().next().unwrap_or(' '), colour)
    });
    cell.collect()
}

/// A row of characters, without blanks at its end.
pub(crate) fn row(cells: &[(char, Option<u8>)], look: Look) -> String {
    let mut pieces: Vec<(Option<u8>, String)> = Vec::new();
    for &(sign, colour) in cells {
        match pieces.last_mut() {
            Some((last, text)) if *last == colour || sign == ' ' => text.push(sign),
            _ => pieces.push((colour, sign.to_string())),
        }
    }
    if let Some((_, last)) = pieces.last_mut() {
        last.truncate(last.trim_end().len());
    }
    let inked = |(colour, text): &(Option<u8>, String)| match colour {
        Some(colour) => inked(text, *colour, look),
        None => text.clone(),
    };
    pieces.iter().map(inked).collect()
}

/// The axis below a grid, and its numbers.
pub(crate) fn ground(axis: &Axis, margin: usize, look: Look) -> [String; 2] {
    let (floor, corner, mark) = if look.ascii {
        ('-', '+', '+')
    } else {
        ('─', '└', '┴')
    };
    let columns = usize::from(axis.cells);
    let mut ground = vec![floor; columns];
    let mut numbers = vec![' '; columns.saturating_add(1)];
    for label in axis.labels() {
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
    [
        format!("{:margin$}{corner}{ground}", ""),
        format!("{:margin$} {}", "", numbers.trim_end()),
    ]
}

pub(crate) fn inked(text: &str, colour: u8, look: Look) -> String {
    if look.colours && !text.trim().is_empty() {
        let colour = Ansi::Ansi256(Ansi256Color(colour));
        styled(text, Style::new().fg_color(Some(colour)))
    } else {
        text.to_owned()
    }
}

pub(crate) fn bold(text: &str, look: Look) -> String {
    if look.colours {
        styled(text, Style::new().bold())
    } else {
        text.to_owned()
    }
}

fn styled(text: &str, style: Style) -> String {
    let mut out = String::new();
    // Writing to a `String` does not fail.
    _ = write!(out, "{style}{text}{style:#}");
    out
}
