//! The timeline in the characters of a terminal.

use super::Timeline;
use crate::plot::{Axis, Look, bold, ground, indexed, inked, row};
use crate::wrap::wrapped;
use reattempt_storm::draw::Colour;

/// Sky blue, as in the picture.
const JITTER: u8 = 74;

/// What each part consists of: attempt, delay, jitter, deadline.
const fn signs(look: Look) -> [char; 4] {
    if look.ascii {
        ['#', '-', '.', '|']
    } else {
        ['█', '─', '░', '╎']
    }
}

/// Lines without an end of the last one.
pub(in crate::explain) fn text(timeline: &Timeline, look: Look) -> String {
    let [attempt, delay, jitter, deadline] = signs(look);
    let (blue, red) = (indexed(Colour::Blue), indexed(Colour::Vermilion));
    let margin = "attempt".len();
    let taken = u16::try_from(margin).unwrap_or(u16::MAX).saturating_add(1);
    let axis = Axis::across(
        &(0.0..timeline.end),
        look.width.saturating_sub(taken).max(8),
    );
    let columns = usize::from(axis.cell(timeline.end)).saturating_add(1);
    let mut lines = wrapped(Timeline::title(), "", look.width);
    for line in &mut lines {
        *line = bold(line, look);
    }
    lines.push("attempt".to_owned());
    let at = timeline.deadline.as_ref().and_then(|it| it.at);
    for it in &timeline.rows {
        let mut cells = vec![(' ', None); columns];
        let mut fill = |from: f64, to: f64, sign, colour| {
            let (from, to) = (usize::from(axis.cell(from)), usize::from(axis.cell(to)));
            for cell in cells.iter_mut().take(to.saturating_add(1)).skip(from) {
                *cell = (sign, colour);
            }
        };
        if it.delay.end > it.delay.start {
            fill(it.delay.start, it.delay.end, delay, None);
        }
        if it.jitter.end > it.jitter.start {
            fill(it.jitter.start, it.jitter.end, jitter, Some(JITTER));
        }
        if let Some(at) = at {
            fill(at, at, deadline, Some(red));
        }
        if let Some(range) = &it.attempt {
            fill(range.start, range.end, attempt, Some(blue));
        }
        let wall = if look.ascii { '|' } else { '│' };
        lines.push(format!("{:>margin$}{wall}{}", it.number, row(&cells, look)));
    }
    lines.extend(ground(&axis, margin, look));
    let end = margin.saturating_add(columns).saturating_add(1);
    lines.push(format!("{:>end$}", timeline.across()));
    let mut entries = vec![
        (attempt, Some(blue), timeline.attempt().to_owned()),
        (delay, None, "delay".to_owned()),
        (jitter, Some(JITTER), "jitter of the delay".to_owned()),
    ];
    if let Some(it) = &timeline.deadline {
        let name = match it.at {
            Some(_) => it.name.clone(),
            None => format!("{}, far to the right", it.name),
        };
        entries.push((deadline, Some(red), name));
    }
    lines.extend(legend(&entries, look));
    for note in &timeline.notes {
        lines.extend(wrapped(note, "", look.width));
    }
    lines.join("\n")
}

/// In as few lines as it takes.
fn legend(entries: &[(char, Option<u8>, String)], look: Look) -> Vec<String> {
    let mut rows: Vec<(usize, String)> = Vec::new();
    for (sign, colour, name) in entries {
        let sample = sign.to_string().repeat(2);
        let sample = colour.map_or(sample.clone(), |colour| inked(&sample, colour, look));
        let width = name.chars().count().saturating_add(5);
        match rows.last_mut() {
            Some((used, row)) if used.saturating_add(width) <= usize::from(look.width) => {
                *used = used.saturating_add(width);
                row.extend(["  ", &sample, " ", name]);
            }
            _ => rows.push((width, format!("  {sample} {name}"))),
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}
