//! The runs as a picture that is read at 700 pixels, on a light page and on a dark one.

use std::fmt::Write as _;

use reattempt_storm::draw::Colour;

use super::runs::{Run, SECONDS, scene};

/// Where the graphs begin, how wide they are, and where the verdicts begin.
const LEFT: f64 = 24.0;
const WIDTH: f64 = 600.0;
const VERDICT: f64 = 648.0;

/// Of a graph, and from one to the next.
const HEIGHT: f64 = 62.0;
const STEP: f64 = 116.0;
const FIRST: f64 = 118.0;

/// Colours of a light page and of a dark one; those of the policies are read on both.
const STYLE: &str = "<style>
svg{--page:#ffffff;--text:#1f2328;--soft:#59636e;--outage:#d8dee4;--never:#c2410c;--late:#a16207;--back:#0f7a5a}
@media (prefers-color-scheme:dark){svg{--page:#0d1117;--text:#f0f6fc;--soft:#9da7b3;--outage:#2d333b;--never:#f97316;--late:#eab308;--back:#34d399}}
text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:var(--text)}
.title{font-size:27px;font-weight:700}.soft{font-size:19px;fill:var(--soft)}
.name{font-size:20px;font-weight:600}.verdict{font-size:26px;font-weight:700}
.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:16px;fill:var(--soft)}
</style>";

const fn class(colour: Colour) -> &'static str {
    match colour {
        Colour::Vermilion => "never",
        Colour::Orange => "late",
        Colour::Grey | Colour::Blue | Colour::Green => "back",
    }
}

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
    let mut out = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| {
        // Writing to a `String` does not fail.
        _ = writeln!(out, "{text}");
    };
    let verdicts: Vec<_> = runs
        .iter()
        .map(|run| format!("{}: {}", run.name, run.verdict()))
        .collect();
    line(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 {height:.0}" role="img">"#,
        height = bottom + 44.0
    ));
    line(format_args!(
        "<title>One outage of 5 s under three policies. {}</title>",
        verdicts.join("; ")
    ));
    line(format_args!("{STYLE}"));
    line(format_args!(
        r#"<rect width="100%" height="100%" rx="8" style="fill:var(--page)"/>"#
    ));
    line(format_args!(
        r#"<text class="title" x="{LEFT}" y="40">One outage of 5 s, three ways to retry</text>"#
    ));
    line(format_args!(
        r#"<text class="soft" x="{LEFT}" y="68">The share of {} calls/s that succeed; the server can serve {}/s.</text>"#,
        scene.calls, scene.capacity
    ));
    for (number, run) in (0_u32..).zip(runs) {
        let (top, class) = (row(number), class(run.colour));
        let floor = top + HEIGHT;
        line(format_args!(
            r#"<text class="name" x="{LEFT}" y="{y:.1}">{name}<tspan class="code" dx="14">{keys}</tspan></text>"#,
            y = top - 10.0,
            name = run.name,
            keys = run.keys.replace('&', "&amp;")
        ));
        line(format_args!(
            r#"<rect x="{start:.1}" y="{top:.1}" width="{width:.1}" height="{HEIGHT}" style="fill:var(--outage)"/>"#,
            width = end - start
        ));
        line(format_args!(
            r#"<path d="{}" style="fill:var(--{class});fill-opacity:.85"/>"#,
            area(run, top)
        ));
        line(format_args!(
            r#"<path d="M{LEFT} {floor:.1}h{WIDTH}" style="stroke:var(--soft);stroke-opacity:.6"/>"#
        ));
        line(format_args!(
            r#"<text class="verdict" x="{VERDICT}" y="{y:.1}" style="fill:var(--{class})">{verdict}</text>"#,
            y = top + 28.0,
            verdict = run.verdict()
        ));
        line(format_args!(
            r#"<text class="soft" x="{VERDICT}" y="{y:.1}">up to {load:.0} requests/s</text>"#,
            y = top + 54.0,
            load = run.summary.peak_load
        ));
    }
    let labels = [(0.0, "0 s"), (30.0, "30 s"), (45.0, "45 s"), (60.0, "60 s")];
    for (second, label) in labels {
        line(format_args!(
            r#"<text class="soft" x="{x:.1}" y="{y:.1}">{label}</text>"#,
            x = across(second),
            y = bottom + 25.0
        ));
    }
    line(format_args!(
        r#"<text class="soft" x="{x:.1}" y="{y:.1}" text-anchor="middle">outage</text>"#,
        x = f64::midpoint(start, end),
        y = bottom + 25.0
    ));
    line(format_args!("</svg>"));
    out
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
