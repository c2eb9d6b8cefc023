//! A schedule as two pictures: how long each delay is, and when each attempt starts.

use std::time::Duration;

use reattempt_storm::draw::{Band, Chart, Limit, Line};

use super::schedule::{Attempt, Schedule};

/// A unit of time: its length, the axis of delays, the axis of moments.
type Unit = (f64, &'static str, &'static str);

const UNITS: [Unit; 6] = [
    (3600.0, "delay (h)", "time since the call (h)"),
    (60.0, "delay (min)", "time since the call (min)"),
    (1.0, "delay (s)", "time since the call (s)"),
    (1e-3, "delay (ms)", "time since the call (ms)"),
    (1e-6, "delay (µs)", "time since the call (µs)"),
    (1e-9, "delay (ns)", "time since the call (ns)"),
];

/// Attempts that are drawn: later ones tell nothing new.
const DRAWN: usize = 30;

/// The pictures; none of a policy without a retry.
pub(super) fn charts(schedule: &Schedule) -> Vec<Chart> {
    if schedule.attempts.len() < 2 {
        return Vec::new();
    }
    let mut charts = vec![delays(schedule), starts(schedule)];
    if schedule.attempts.len() > DRAWN {
        for chart in &mut charts {
            chart.across = "attempt (the first 30)".into();
        }
    }
    charts
}

fn delays(schedule: &Schedule) -> Chart {
    let attempts = schedule.attempts.iter().take(DRAWN);
    let delays: Vec<_> = attempts
        .filter_map(|attempt| Some((attempt, attempt.delay?)))
        .collect();
    let longest = delays.iter().map(|(_, delay)| delay.longest).max();
    let (unit, upwards, _) = unit(longest.unwrap_or_default());
    let band = delays.iter().map(|(attempt, delay)| {
        let (least, longest) = (scaled(delay.least, unit), scaled(delay.longest, unit));
        (across(attempt), least, longest)
    });
    let nominal = delays
        .iter()
        .filter_map(|(attempt, delay)| Some((across(attempt), scaled(delay.nominal?, unit))));
    chart(
        "Delay before each attempt",
        upwards,
        ["least to longest", "nominal"],
        band.collect(),
        nominal.collect(),
    )
}

fn starts(schedule: &Schedule) -> Chart {
    let attempts = || schedule.attempts.iter().take(DRAWN);
    let last = attempts().map(|attempt| attempt.start.latest).max();
    let highest = last
        .unwrap_or_default()
        .max(schedule.deadline.unwrap_or_default());
    let (unit, _, upwards) = unit(highest);
    let band = attempts().map(|attempt| {
        let start = attempt.start;
        (
            across(attempt),
            scaled(start.earliest, unit),
            scaled(start.latest, unit),
        )
    });
    let nominal = attempts()
        .filter_map(|attempt| Some((across(attempt), scaled(attempt.start.nominal?, unit))));
    let mut chart = chart(
        "Start of each attempt",
        upwards,
        ["earliest to latest", "nominal"],
        band.collect(),
        nominal.collect(),
    );
    chart.limit = schedule.deadline.map(|deadline| Limit {
        name: "deadline".into(),
        at: scaled(deadline, unit),
    });
    chart
}

fn chart(
    title: &'static str,
    upwards: &'static str,
    [all, nominal]: [&'static str; 2],
    band: Vec<(f64, f64, f64)>,
    points: Vec<(f64, f64)>,
) -> Chart {
    let line = Line {
        name: nominal.into(),
        points,
    };
    Chart {
        title: title.into(),
        across: "attempt".into(),
        upwards: upwards.into(),
        band: Some(Band {
            name: all.into(),
            points: band,
        }),
        // Of decorrelated delays there is none.
        lines: if line.points.len() > 1 || title.starts_with("Delay") && !line.points.is_empty() {
            vec![line]
        } else {
            Vec::new()
        },
        counts: true,
        ..Chart::default()
    }
}

/// The largest unit of which `highest` is at least two.
fn unit(highest: Duration) -> Unit {
    let seconds = highest.as_secs_f64();
    let fits = |(length, ..): &&Unit| seconds >= 2.0 * length;
    let [.., smallest] = UNITS;
    UNITS.iter().find(fits).copied().unwrap_or(smallest)
}

fn scaled(duration: Duration, unit: f64) -> f64 {
    duration.as_secs_f64() / unit
}

fn across(attempt: &Attempt) -> f64 {
    attempt.number.into()
}
