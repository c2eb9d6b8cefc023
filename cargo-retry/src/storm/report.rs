//! What stands on the terminal.

use std::path::PathBuf;

use retry_runtime::duration::Human;
use retry_storm::scene::Kind;
use retry_storm::server::Stale;

use super::play::Play;
use super::{charts, meaning, table};
use crate::plot::{self, Look};

/// Lines of a plot.
pub(super) const HEIGHT: u16 = 16;

pub(super) fn text(play: &Play, notes: &[String], files: &[PathBuf], look: Look) -> String {
    let mut parts = vec![wrapped(&opening(play, notes), look.width)];
    for (_, chart) in charts::all(play) {
        parts.push(plot::draw(&chart, look));
    }
    parts.push(table::table(play, look));
    let told = meaning::sentences(play).join(" ");
    parts.push(wrapped(&[told], look.width));
    if !files.is_empty() {
        let files = files.iter().map(|path| format!("{}\n", path.display()));
        parts.push(files.collect());
    }
    parts.join("\n")
}

/// What is played.
fn opening(play: &Play, notes: &[String]) -> Vec<String> {
    let scene = &play.scene;
    let (calls, capacity, clients) = (scene.calls, scene.capacity, play.clients);
    let time = &scene.trigger.time;
    let (at, length) = (
        Human(time.start),
        Human(time.end.saturating_sub(time.start)),
    );
    let event = match scene.trigger.kind {
        Kind::Outage => format!("the server stands still for {length}"),
        Kind::Slowdown(_) => {
            format!(
                "it can serve only {} a second for {length}",
                rounded(scene.capacity_meanwhile())
            )
        }
        Kind::Burst(_) => format!(
            "there are {} a second for {length}",
            rounded(scene.calls_meanwhile())
        ),
    };
    let stale = match scene.stale {
        Stale::Served => "serves what is stale, because it does not know",
        Stale::Dropped => "throws away what is stale",
    };
    let processes = if clients == 1 {
        "1 process".to_owned()
    } else {
        format!("{clients} processes")
    };
    let timeout = Human(scene.timeout);
    let mut lines = vec![
        format!(
            "{calls} calls a second from {processes}, a server for {capacity} a second; after {at} {event}. An attempt times out after {timeout}; the server {stale}."
        ),
        format!(
            "{}: {}{}",
            named(play),
            play.asked.contender.policy.explain(),
            besides(play)
        ),
    ];
    lines.extend(notes.iter().map(|note| format!("Note: {note}.")));
    lines
}

fn named(play: &Play) -> &'static str {
    if play.is_default {
        "This policy, the default"
    } else {
        "This policy"
    }
}

/// What the policy does not say itself.
fn besides(play: &Play) -> String {
    let contender = &play.asked.contender;
    let mut words = String::new();
    match contender.budget {
        Some(share) => {
            words += &format!(
                " A budget in each process: {} retries for each success.",
                rounded(share)
            );
        }
        None if contender.is_budgeted() => words += " A budget in each process.",
        None => {}
    }
    if contender.breaker {
        words += " A breaker in each process.";
    }
    words
}

/// No more decimals than say something.
pub(super) fn rounded(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Each of them begins a line; none is wider than `width`, unless one of its words is.
fn wrapped(lines: &[String], width: u16) -> String {
    let mut text = String::new();
    for line in lines {
        let mut used = 0_usize;
        for word in line.split_whitespace() {
            let length = word.chars().count();
            if used > 0 && used.saturating_add(length) >= usize::from(width) {
                text.push('\n');
                used = 0;
            } else if used > 0 {
                text.push(' ');
                used = used.saturating_add(1);
            }
            text.push_str(word);
            used = used.saturating_add(length);
        }
        text.push('\n');
    }
    text
}
