//! The runs in numbers, side by side.

use std::time::Duration;

use comfy_table::Cell;
use reattempt_storm::summary::Summary;
use retry_runtime::duration::Human;

use super::play::Play;
use super::setting::noun;
use crate::plot::Look;
use crate::table;

/// What it is, and what a run comes to in it.
type Row<'a> = (&'a str, fn(&Summary) -> String);

/// The table, each line ended.
pub(super) fn table(play: &Play, look: Look) -> String {
    // The longest in two lines.
    let names = play
        .all()
        .map(|it| it.contender.name.replace("immediate ", "immediate\n"));
    let [never, rival, asked] = &names;
    let mut table = table::new(&["", never, rival, asked], look.width, look.ascii);
    let back = format!("back after the {}", noun(play.scene.trigger.kind));
    let rows: [Row<'_>; 9] = [
        ("attempts in all", |it| it.attempts.to_string()),
        ("attempts/s, worst 10 s", |it| {
            format!("{:.0}", it.peak_load)
        }),
        ("attempts for each call", |it| {
            format!("{:.2}", it.amplification)
        }),
        ("  of the worst 10 s", |it| {
            format!("{:.2}", it.peak_amplification)
        }),
        ("calls that succeeded", |it| percent(it.succeeded)),
        ("  still open at the end", |it| percent(it.open)),
        ("served for nobody", |it| percent(it.wasted)),
        (&back, |it| {
            it.recovered
                .map_or_else(|| "not in this run".to_owned(), after)
        }),
        ("time of a call, p50/p99", |it| {
            format!("{}/{}", short(it.median), short(it.p99))
        }),
    ];
    for (name, value) in rows {
        let values = play.all().map(|it| table::right(value(&it.summary)));
        table.add_row([Cell::new(name)].into_iter().chain(values));
    }
    format!("{table}\n")
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// How long it took from the end of a trigger.
pub(super) fn after(time: Duration) -> String {
    if time.is_zero() {
        "at once".to_owned()
    } else {
        Human(time).to_string()
    }
}

/// No more digits than say something.
fn short(time: Duration) -> String {
    let unit: u128 = match time.as_millis() {
        0 => 1_000,
        1..1000 => 1_000_000,
        1000..60_000 => 10_000_000,
        _ => 1_000_000_000,
    };
    let nanos = time.as_nanos();
    let nanos = nanos.saturating_sub(nanos % unit);
    Human(Duration::from_nanos(
        u64::try_from(nanos).unwrap_or(u64::MAX),
    ))
    .to_string()
}
