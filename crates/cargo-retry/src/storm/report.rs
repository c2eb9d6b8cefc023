//! What stands on the terminal.

use std::path::PathBuf;

use reattempt_storm::scene::Kind;
use reattempt_storm::server::Stale;
use retry_runtime::duration::Human;

use super::meaning::{self, rounded};
use super::play::{Callers, Play};
use super::{charts, table};
use crate::plot::{self, Look};
use crate::wrap::wrapped;

/// Lines of a plot.
pub(super) const HEIGHT: u16 = 19;

pub(super) fn text(play: &Play, notes: &[String], files: &[PathBuf], look: Look) -> String {
    let mut parts = vec![filled(&opening(play, notes), look.width)];
    for (_, chart) in charts::all(play) {
        parts.push(plot::draw(&chart, look));
    }
    parts.push(table::table(play, look));
    let text = meaning::sentences(play).join(" ");
    parts.push(filled(&[text], look.width));
    if !files.is_empty() {
        let files: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
        parts.push(files.join("\n"));
        parts.push(String::new());
    }
    parts.join("\n")
}

/// What is played.
fn opening(play: &Play, notes: &[String]) -> Vec<String> {
    let scene = &play.scene;
    let (calls, capacity) = (scene.calls, scene.capacity);
    let time = &scene.trigger.time;
    let (at, length) = (
        Human(time.start),
        Human(time.end.saturating_sub(time.start)),
    );
    let event = match scene.trigger.kind {
        Kind::Outage => format!("the server stands still for {length}"),
        Kind::Errors => format!("the server returns errors for {length}"),
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
        Stale::Served if play.callers.is_chain() => {
            "serves what is stale, because it does not know; with the protocol it throws that away"
        }
        Stale::Served => "serves what is stale, because it does not know",
        Stale::Dropped => "throws away what is stale",
    };
    let Callers { services, clients } = play.callers;
    let processes = match clients {
        1 => "1 process".to_owned(),
        many => format!("{many} processes"),
    };
    let (arrive, below) = if play.callers.is_chain() {
        (
            format!("arrive at the first of {services} services of {processes} each"),
            " below the last",
        )
    } else {
        (format!("from {processes}"), "")
    };
    let timeout = Human(scene.timeout);
    let mut lines = vec![
        format!(
            "{calls} calls a second {arrive}, a server for {capacity} a second{below}; after {at} {event}. An attempt times out after {timeout}; the server {stale}."
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
    let budget = match contender.budget {
        Some(allowance) => {
            let floor = match allowance.floor {
                0.0 => String::new(),
                floor => format!(
                    ", and {} a second whatever happens (its `floor`)",
                    rounded(floor)
                ),
            };
            let (share, earned_by) = (rounded(allowance.share), allowance.earned_by());
            format!(" A budget in each process: {share} retries for each {earned_by}{floor}.")
        }
        None if contender.is_budgeted() => " A budget in each process.".to_owned(),
        None => String::new(),
    };
    let breaker = if contender.breaker {
        " A breaker in each process."
    } else {
        ""
    };
    format!("{budget}{breaker}")
}

/// Each of them begins a line.
fn filled(words: &[String], width: u16) -> String {
    let lines = words.iter().flat_map(|words| wrapped(words, "", width));
    let mut lines: Vec<String> = lines.collect();
    // The last one is ended, too.
    lines.push(String::new());
    lines.join("\n")
}
