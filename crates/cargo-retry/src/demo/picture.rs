//! The runs as a picture that is read at 700 pixels, on a light page and on a dark one.

use std::fmt::Write as _;

use reattempt_storm::draw::Svg;

use super::runs::{Run, SECONDS, scene};

/// Where the graphs begin, how wide they are, and where the verdicts begin.
const LEFT: f64 = 24.0;
const WIDTH: f64 = 600.0;
const VERDICT: f64 = 648.0;

/// Of a graph, and from one to the next.
const HEIGHT: f64 = 62.0;
const STEP: f64 = 116.0;
const FIRST: f64 = 118.0;

/// The picture as SVG: the same bytes for the same runs.
pub(super) fn svg(runs: &[Run]) -> String {
    let scene = scene(0);
    let across = |second: f64| LEFT + WIDTH * second / f64::from(SECONDS);
    let row = |number: u32| f64::from(number).mul_add(STEP, FIRST);
    let count = u32::try_from(runs.len()).unwrap_or_default();
    let bottom = row(count.saturating_sub(1)) + HEIGHT;
    let (start, end) = (
        across(scene.trigger.time.start.as_secs_f64()),
        across(scene.trigger.time.end.as_secs_f64()),
    );
    let verdicts: Vec<_> = runs
        .iter()
        .map(|run| format!("{}: {}", run.name, run.verdict()))
        .collect();
    let title = format!(
        "One outage of 5 s under three policies. {}",
        verdicts.join("; ")
    );
    let mut svg = Svg::new(bottom + 44.0, &title);
    svg.text(
        "title",
        LEFT,
        40.0,
        "One outage of 5 s, three ways to retry",
    );
    svg.text(
        "soft",
        LEFT,
        68.0,
        &format!(
            "The share of {} calls/s that succeed; the server can serve {}/s.",
            scene.calls, scene.capacity
        ),
    );
    for (number, run) in (0_u32..).zip(runs) {
        let (top, colour) = (row(number), run.colour.as_str());
        let floor = top + HEIGHT;
        svg.add(format_args!(
            r#"<text class="name" x="{LEFT}" y="{y:.1}">{name}<tspan class="code" dx="14">{keys}</tspan></text>"#,
            y = top - 10.0,
            name = run.name,
            keys = run.keys.replace('&', "&amp;")
        ));
        svg.field("outage", (start, top), (end, floor));
        svg.add(format_args!(
            r#"<path d="{}" style="fill:var(--{colour});fill-opacity:.85"/>"#,
            area(run, top)
        ));
        svg.add(format_args!(
            r#"<path d="M{LEFT} {floor:.1}h{WIDTH}" style="stroke:var(--soft);stroke-opacity:.6"/>"#
        ));
        svg.add(format_args!(
            r#"<text class="verdict" x="{VERDICT}" y="{y:.1}" style="fill:var(--{colour})">{verdict}</text>"#,
            y = top + 28.0,
            verdict = run.verdict()
        ));
        let load = format!("up to {:.0} requests/s", run.summary.peak_load);
        svg.text("soft", VERDICT, top + 54.0, &load);
        if run.refused_by.is_some() {
            svg.text("soft", VERDICT, top + 80.0, "does not compile");
        }
    }
    for (second, label) in [(0.0, "0 s"), (30.0, "30 s"), (45.0, "45 s"), (60.0, "60 s")] {
        svg.text("soft", across(second), bottom + 25.0, label);
    }
    let middle = f64::midpoint(start, end);
    svg.text("soft middle", middle, bottom + 25.0, "outage");
    svg.end()
}

/// What succeeds, from the floor of its graph upwards.
fn area(run: &Run, top: f64) -> String {
    let floor = top + HEIGHT;
    let mut path = format!("M{LEFT} {floor:.1}");
    let shares = run.answered(1);
    for (second, share) in (0_u32..).zip(&shares) {
        let x = |second: u32| LEFT + WIDTH * f64::from(second) / f64::from(SECONDS);
        let y = HEIGHT.mul_add(-share, floor);
        // Writing to a `String` does not fail.
        _ = write!(
            path,
            "L{:.1} {y:.1}L{:.1} {y:.1}",
            x(second),
            x(second.saturating_add(1))
        );
    }
    _ = write!(path, "V{floor:.1}Z");
    path
}
