//! A moment of the runs in the characters of a terminal.

use anstyle::{Ansi256Color, Color, Style};

use super::runs::{Run, SECONDS, scene};
use crate::plot::{Look, indexed};
use crate::wrap::wrapped;

/// Lines of a frame: it fits to a terminal of 24.
pub(super) const HEIGHT: u16 = 19;

/// Lines of a graph.
const ROWS: u32 = 3;

const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Without others: a full cell, or none.
const ASCII: [char; 9] = [' ', ' ', ' ', ' ', '#', '#', '#', '#', '#'];

/// What everything looks like after so many seconds.
pub(super) fn frame(runs: &[Run], second: u32, look: Look) -> String {
    let scene = scene(0);
    let (outage, width) = (&scene.trigger.time, seconds_of_column(look));
    let dim = Style::new().dimmed();
    let mut lines = vec![
        inked(
            "An outage of 5 s under three policies: how many of the calls succeed",
            Style::new().bold(),
            look,
        ),
        inked(
            &format!(
                "{} calls/s, a server for {}/s, an attempt times out after 1 s",
                scene.calls, scene.capacity
            ),
            dim,
            look,
        ),
        String::new(),
    ];
    for run in runs {
        let style = Style::new()
            .fg_color(Some(Color::Ansi256(Ansi256Color(indexed(run.colour)))))
            .bold();
        let state = if second >= SECONDS {
            run.verdict()
        } else {
            now(run, second)
        };
        let name = inked(run.name, style, look);
        let state = inked(&state, style, look);
        let room = usize::from(look.width)
            .saturating_sub(run.name.chars().count())
            .saturating_sub(run.keys.chars().count())
            .saturating_sub(18);
        let keys = if room > 0 { run.keys } else { "" };
        lines.push(format!("{name}  {}  {state}", inked(keys, dim, look)));
        let levels = run.answered(width);
        let shown = usize::try_from(second / width).unwrap_or_default();
        for row in (0..ROWS).rev() {
            let cells = levels.iter().enumerate().map(|(column, level)| {
                let at = u64::try_from(column).unwrap_or_default() * u64::from(width);
                let is_out = (outage.start.as_secs()..outage.end.as_secs()).contains(&at);
                let full = if column < shown { cell(*level, row) } else { 0 };
                match (full, is_out, look.ascii) {
                    (0, true, true) => ':',
                    (0, true, false) => '░',
                    (_, _, true) => ASCII.get(full).copied().unwrap_or(' '),
                    (..) => BARS.get(full).copied().unwrap_or(' '),
                }
            });
            let cells: String = cells.collect();
            lines.push(inked(
                cells.trim_end(),
                style.effects(anstyle::Effects::new()),
                look,
            ));
        }
        lines.push(String::new());
    }
    lines.push(inked(&axis(width, look), dim, look));
    lines.push(String::new());
    lines.join("\n")
}

/// Seconds of a column, so that all fit.
fn seconds_of_column(look: Look) -> u32 {
    SECONDS.div_ceil(u32::from(look.width).max(1)).max(1)
}

/// Eighths of the cell in this row that are full, with the lowest row as 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of 24"
)]
fn cell(level: f64, row: u32) -> usize {
    let eighths = (level * f64::from(ROWS * 8)).round() as u32;
    let here = eighths.saturating_sub(row * 8).min(8);
    usize::try_from(here).unwrap_or_default()
}

/// What the server sees in this second.
fn now(run: &Run, second: u32) -> String {
    let second = usize::try_from(second.saturating_sub(1)).unwrap_or_default();
    let requests = run.record.seconds.get(second).map_or(0, |it| it.attempts);
    format!("{requests:>3} requests/s")
}

/// The seconds below the graphs.
fn axis(width: u32, look: Look) -> String {
    let mut text = String::new();
    for second in (0..SECONDS).filter(|it| it.is_multiple_of(15)) {
        let column = usize::try_from(second / width).unwrap_or_default();
        let mark = if look.ascii { '|' } else { '╵' };
        let label = match second {
            0 => format!("{mark}0 s"),
            15 => format!("{mark}15 s: it is over"),
            _ => format!("{mark}{second} s"),
        };
        if text.chars().count() <= column {
            text = format!("{text:<column$}{label}");
        }
    }
    text
}

/// What to make of it.
pub(super) fn closing(runs: &[Run], look: Look) -> String {
    let never = runs.iter().filter(|it| it.summary.recovered.is_none());
    let mut lines = vec![String::new()];
    let mut say = |words: &str| lines.extend(wrapped(words, "", look.width));
    for run in never {
        say(&format!(
            "With `{}` the service never comes back: its clients send {:.0} requests a second, {} times the calls, and it works for clients that have given up.",
            run.keys,
            run.summary.peak_load,
            rounded(run.summary.peak_amplification)
        ));
        if let Some(rule) = &run.refused_by {
            say(&format!("It does not compile: rule {rule}."));
        }
    }
    say(
        "All calls of an operation share a budget by default: a retry that helps costs nothing, and after a second in which nothing succeeds nothing is retried.",
    );
    lines.push(String::new());
    for (command, what) in [
        ("cargo retry storm 'max = 5'", "an outage under your policy"),
        (
            "cargo retry suggest",
            "hand-written retries of your project",
        ),
        (
            "cargo retry explain 'max = 4'",
            "one policy in words and pictures",
        ),
    ] {
        lines.push(format!("  {command:<44}{what}"));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn rounded(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0")
        .map_or(text.clone(), ToOwned::to_owned)
}

fn inked(text: &str, style: Style, look: Look) -> String {
    if look.colours && !text.trim().is_empty() {
        format!("{style}{text}{style:#}")
    } else {
        text.to_owned()
    }
}
