//! Rows times ways, printed as text or as Markdown; `-` where a way has no such thing.

use std::fmt::Write as _;

use crate::table::short;

pub(crate) struct Matrix {
    title: String,
    ways: Vec<String>,
    rows: Vec<Row>,
}

struct Row {
    title: String,
    numbers: Vec<Option<f64>>,
    remark: String,
}

const REMARK: &str = "remark";

impl Matrix {
    pub(crate) fn new(title: impl Into<String>, ways: &[&str]) -> Self {
        Self {
            title: title.into(),
            ways: ways.iter().map(|&way| way.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// A number for each way; those that are lacking at the end have none.
    pub(crate) fn row(&mut self, title: impl Into<String>, numbers: Vec<Option<f64>>) {
        self.remarked(title, numbers, String::new());
    }

    /// The same with words behind it. The column for them is there when a row has any.
    pub(crate) fn remarked(
        &mut self,
        title: impl Into<String>,
        numbers: Vec<Option<f64>>,
        remark: impl Into<String>,
    ) {
        self.rows.push(Row {
            title: title.into(),
            numbers,
            remark: remark.into(),
        });
    }

    pub(crate) fn print(&self, markdown: bool) {
        println!("\n{}", self.render(markdown));
    }

    fn render(&self, markdown: bool) -> String {
        let lines = self.lines();
        let widths = widths(&lines);
        let mut text = String::new();
        for (index, cells) in lines.iter().enumerate() {
            if markdown {
                let _ = writeln!(text, "| {} |", cells.join(" | "));
                if index == 0 {
                    text.push_str(&self.rule(cells.len()));
                }
            } else {
                text.push_str(aligned(cells, &widths, self.ways.len()).trim_end());
                text.push('\n');
            }
        }
        text
    }

    /// The heading and the rows as cells: title, numbers, and the remark if there are any.
    fn lines(&self) -> Vec<Vec<String>> {
        let remarks = self.rows.iter().any(|row| !row.remark.is_empty());
        let line = |title: &String, cells: Vec<String>, remark: &str| {
            let mut line = vec![title.clone()];
            line.extend(cells);
            line.extend(remarks.then(|| remark.to_owned()));
            line
        };
        let mut lines = vec![line(&self.title, self.ways.clone(), REMARK)];
        for row in &self.rows {
            let number = |way| row.numbers.get(way).copied().flatten();
            let cell = |way| number(way).map_or_else(|| "-".to_owned(), short);
            let cells = (0..self.ways.len()).map(cell).collect();
            lines.push(line(&row.title, cells, &row.remark));
        }
        lines
    }

    /// What Markdown has under a heading: numbers to the right, words to the left.
    fn rule(&self, cells: usize) -> String {
        let mut rule = String::from("|");
        for cell in 0..cells {
            let number = (1..=self.ways.len()).contains(&cell);
            rule.push_str(if number { " ---: |" } else { " --- |" });
        }
        rule.push('\n');
        rule
    }
}

fn widths(lines: &[Vec<String>]) -> Vec<usize> {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|cells| cells.get(column));
        cells
            .map(|cell: &String| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    (0..columns).map(width).collect()
}

fn aligned(cells: &[String], widths: &[usize], ways: usize) -> String {
    let mut line = String::new();
    for (column, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        let _ = match column {
            0 => write!(line, "{cell:<width$}"),
            number if number <= ways => write!(line, "  {cell:>width$}"),
            _ => write!(line, "  {cell:<width$}"),
        };
    }
    line
}
