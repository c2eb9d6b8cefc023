//! What the tables of every command look like.

use comfy_table::presets::{ASCII_FULL_CONDENSED, UTF8_FULL_CONDENSED};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};

/// A table with these headings, no wider than `width`; numbers stand on the right.
pub(crate) fn new(headings: &[&str], width: u16, ascii: bool) -> Table {
    let mut table = Table::new();
    table
        .load_style(if ascii {
            ASCII_FULL_CONDENSED
        } else {
            UTF8_FULL_CONDENSED
        })
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width)
        .set_header(headings.iter().map(|heading| right(*heading)));
    table
}

/// A cell of a number.
pub(crate) fn right(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}
