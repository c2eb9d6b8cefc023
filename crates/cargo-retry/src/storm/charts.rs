//! What is shown of the runs: load, goodput, amplification. In the pictures amplification is
//! attempts by calls of the same moment, what the server feels; in the table the worst of the calls
//! of ten seconds, whenever they made their attempts, so that it is never above `max`.

use std::time::Duration;

use reattempt_storm::draw::{Chart, Colour, Line};
use reattempt_storm::record::{Second, amplification};
use reattempt_storm::scene::Kind;

use super::play::{Play, Played};
use super::setting::noun;

/// The names of the files, without their ending, and what is in them.
pub(super) fn all(play: &Play) -> [(&'static str, Chart); 3] {
    [
        (
            "load",
            chart(play, "Load on the server", "attempts/s", |it| {
                it.attempts.into()
            }),
        ),
        (
            "goodput",
            chart(play, "Goodput", "successes/s", |it| it.succeeded.into()),
        ),
        (
            "amplification",
            chart(
                play,
                "Amplification",
                "attempts for each call that arrives",
                amplification,
            ),
        ),
    ]
}

fn chart(
    play: &Play,
    title: &'static str,
    upwards: &'static str,
    value: fn(&Second) -> f64,
) -> Chart {
    let time = &play.scene.trigger.time;
    let width = width(play.scene.end);
    let line = |played: &Played| Line {
        name: played.contender.name.into(),
        points: played.record.means(width, value),
    };
    Chart {
        title: title.into(),
        across: "time (s)".into(),
        upwards: upwards.into(),
        outage: Some(time.start.as_secs_f64()..time.end.as_secs_f64()),
        trigger: match play.scene.trigger.kind {
            Kind::Slowdown(part) => format!("slowdown to {part}").into(),
            Kind::Burst(times) => format!("burst, {times} times").into(),
            kind @ (Kind::Outage | Kind::Errors) => noun(kind).into(),
        },
        lines: play.all().map(line).into(),
        colours: vec![Colour::Grey, Colour::Vermilion, Colour::Blue],
    }
}

/// Seconds to a point: more than so many points are noise.
fn width(end: Duration) -> u32 {
    u32::try_from(end.as_secs().div_ceil(80))
        .unwrap_or(u32::MAX)
        .max(1)
}
