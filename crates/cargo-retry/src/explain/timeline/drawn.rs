//! The timeline as SVG.

use reattempt_storm::draw::{Svg, ticks};

use super::Timeline;

/// Where time begins and ends.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 870.0;

/// Of a row, and of the bar in it.
const STEP: f64 = 34.0;
const BAR: f64 = 22.0;
const FIRST: f64 = 92.0;

/// The least that is seen of an attempt.
const THINNEST: f64 = 7.0;

/// The picture: the same bytes for the same schedule.
pub(in crate::explain) fn svg(timeline: &Timeline) -> String {
    let x = |moment: f64| (RIGHT - LEFT).mul_add(moment / timeline.end, LEFT);
    let top = |number: u32| f64::from(number).mul_add(STEP, FIRST);
    let count = u32::try_from(timeline.rows.len()).unwrap_or(u32::MAX);
    let bottom = top(count);
    let notes = u32::try_from(timeline.notes.len()).unwrap_or(u32::MAX);
    let legend = bottom + 84.0;
    let mut svg = Svg::new(
        f64::from(notes).mul_add(26.0, legend + 24.0),
        Timeline::title(),
    );
    svg.text("name", 24.0, 38.0, Timeline::title());
    svg.text("soft", 24.0, FIRST - 16.0, "attempt");
    for (value, text) in ticks(timeline.end, 8.0) {
        svg.add(format_args!(
            r#"<path d="M{0:.1} {FIRST}V{bottom}" style="stroke:var(--soft);stroke-opacity:.25"/>"#,
            x(value)
        ));
        svg.text("soft middle", x(value), bottom + 26.0, &text);
    }
    svg.text("soft end", RIGHT, bottom + 52.0, &timeline.across());
    for (number, row) in (0_u32..).zip(&timeline.rows) {
        let upper = top(number) + (STEP - BAR) / 2.0;
        let (middle, lower) = (upper + BAR / 2.0, upper + BAR);
        svg.text(
            "soft end",
            LEFT - 14.0,
            middle + 7.0,
            &row.number.to_string(),
        );
        if row.delay.end > row.delay.start {
            svg.add(format_args!(
                r#"<path d="M{:.1} {middle:.1}H{:.1}" style="stroke:var(--soft);stroke-width:3"/>"#,
                x(row.delay.start),
                x(row.delay.end)
            ));
        }
        if row.jitter.end > row.jitter.start {
            let (start, end) = (x(row.jitter.start), x(row.jitter.end));
            svg.field("jitter", (start, upper), (end, lower));
        }
        if let Some(attempt) = &row.attempt {
            let start = x(attempt.start);
            svg.field(
                "blue",
                (start, upper + 4.0),
                (x(attempt.end).max(start + THINNEST), lower - 4.0),
            );
        }
    }
    if let Some(deadline) = &timeline.deadline {
        if let Some(at) = deadline.at {
            svg.add(format_args!(
                r#"<path d="M{0:.1} {1:.1}V{bottom:.1}" style="stroke:var(--vermilion);stroke-width:3"/>"#,
                x(at),
                FIRST - 12.0
            ));
        }
        let name = match deadline.at {
            Some(_) => deadline.name.clone(),
            None => format!("{} →", deadline.name),
        };
        svg.add(format_args!(
            r#"<text class="soft end" x="{RIGHT}" y="{:.1}" style="fill:var(--vermilion)">{name}</text>"#,
            FIRST - 18.0
        ));
    }
    let (upper, lower) = (legend - 14.0, legend);
    svg.field("blue", (24.0, upper), (44.0, lower));
    svg.text("soft", 54.0, legend, timeline.attempt());
    svg.add(format_args!(
        r#"<path d="M400 {0:.1}h30" style="stroke:var(--soft);stroke-width:3"/>"#,
        legend - 7.0
    ));
    svg.text("soft", 440.0, legend, "delay");
    svg.field("jitter", (520.0, upper), (550.0, lower));
    svg.text("soft", 560.0, legend, "jitter of the delay");
    for (number, note) in (1_u32..).zip(&timeline.notes) {
        svg.text("soft", 24.0, f64::from(number).mul_add(26.0, legend), note);
    }
    svg.end()
}
