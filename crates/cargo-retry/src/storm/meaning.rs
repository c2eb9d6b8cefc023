//! What the numbers mean, in a few sentences, each of them true to the runs that were played.

use std::cmp::Ordering;
use std::time::Duration;

use reattempt_storm::scene::Kind;
use reattempt_storm::summary::{GOOD, Summary};

use super::play::{Fix, Play};
use super::setting::{noun, written};
use super::table::{after, percent};

/// From one run to another this much is chance.
const CHANCE: Duration = Duration::from_secs(3);

/// No more attempts than calls, but for a few.
const QUIET: f64 = 1.02;

pub(super) fn sentences(play: &Play) -> Vec<String> {
    if is_unnoticed(play) {
        let said = if retries(play) {
            unnoticed(play)
        } else {
            RETRIES_NOTHING.to_owned()
        };
        return vec![said];
    }
    let mut said = Vec::new();
    if let Some(overloaded) = overloaded(play) {
        said.push(overloaded);
    } else {
        said.push(rival(play));
    }
    said.push(asked(play));
    said.extend(floor(play));
    said.extend(fixed(play));
    said
}

/// Whether the run of the policy differs from that without retries. With the protocol it does in any case.
fn retries(play: &Play) -> bool {
    play.asked.contender.retries() || play.callers.is_chain()
}

const RETRIES_NOTHING: &str =
    "This policy retries nothing that times out, so it does what no retry does.";

fn is_unnoticed(play: &Play) -> bool {
    let is_calm = |it: &Summary| {
        let soon = it.recovered.is_some_and(|time| time < CHANCE);
        soon && it.amplification < QUIET
    };
    play.all().iter().all(|it| is_calm(&it.summary))
}

fn unnoticed(play: &Play) -> String {
    let noun = noun(play.scene.trigger.kind);
    let time = &play.scene.trigger.time;
    let longer = time.end.saturating_sub(time.start).saturating_mul(2);
    let longer = written(longer.max(Duration::from_secs(10)));
    let harder = match play.scene.trigger.kind {
        Kind::Outage | Kind::Errors => format!("a longer one (`--{noun} {longer}`)"),
        Kind::Slowdown(_) => "a harder one (`--to 0.2`)".to_owned(),
        Kind::Burst(_) => "a larger one (`--times 3`)".to_owned(),
    };
    format!(
        "The {noun} is hardly felt, with or without retries; {harder} shows what retries do, and so does a load nearer to the capacity."
    )
}

/// Where not even calls without retries get through.
fn overloaded(play: &Play) -> Option<String> {
    if play.never.summary.recovered.is_some() {
        return None;
    }
    let (calls, capacity) = (play.scene.calls, play.scene.capacity);
    let noun = noun(play.scene.trigger.kind);
    Some(if calls >= capacity {
        format!(
            "{} calls a second are no less than the {} that the server can serve: it is overloaded without any {noun} and without any retry; lower `--load` or raise `--capacity`.",
            rounded(calls),
            rounded(capacity)
        )
    } else {
        format!(
            "Not even without retries is the goodput back within the run: after the {noun} the queue shrinks by {} a second only; give it longer (`--for`) or more `--capacity`.",
            rounded(capacity - calls)
        )
    })
}

fn rival(play: &Play) -> String {
    let summary = &play.rival.summary;
    let noun = noun(play.scene.trigger.kind);
    let who = if play.callers.is_chain() {
        format!("Each by itself, the {} services", play.callers.services)
    } else {
        "Three immediate retries".to_owned()
    };
    let load = format!(
        "{who} come to {:.0} attempts a second at a server for {}",
        summary.peak_load,
        rounded(play.scene.capacity)
    );
    let never = || after(play.never.summary.recovered.unwrap_or_default());
    match summary.recovered {
        None => format!(
            "{load}, and the goodput does not come back within the run; without retries it is back {} after the {noun}.",
            never()
        ),
        Some(time) => format!(
            "{load}; the goodput is back {} after the {noun}, without retries {}.",
            after(time),
            never()
        ),
    }
}

fn asked(play: &Play) -> String {
    let (asked, never) = (&play.asked.summary, &play.never.summary);
    let noun = noun(play.scene.trigger.kind);
    if !retries(play) {
        return RETRIES_NOTHING.to_owned();
    }
    let with = with(play);
    match (asked.recovered, never.recovered) {
        (None, Some(_)) => lost(play),
        (None, None) => format!("{with} it is not back either."),
        (Some(time), None) => format!("{with} it is, {} after the {noun}.", after(time)),
        (Some(time), Some(without)) => {
            let apart = after(time.abs_diff(without));
            let compared = match time.cmp(&without) {
                Ordering::Greater => format!("{apart} later than without retries"),
                Ordering::Less => format!("{apart} sooner than without retries"),
                Ordering::Equal => "no later than without retries".to_owned(),
            };
            format!(
                "{with} the goodput is back {} after the {noun}, {compared}; {} of the calls succeed, without retries {}.",
                after(time),
                percent(asked.succeeded),
                percent(never.succeeded)
            )
        }
    }
}

const fn with(play: &Play) -> &'static str {
    if play.callers.is_chain() {
        "With the protocol"
    } else {
        "With this policy"
    }
}

/// What it is like at the end of a run that comes to no good end.
fn lost(play: &Play) -> String {
    let (noun, with) = (noun(play.scene.trigger.kind), with(play));
    let (arriving, succeeding) = last(play);
    let (capacity, wasted) = (play.scene.capacity, percent(play.asked.summary.wasted));
    if arriving < capacity {
        return format!(
            "{with} it is not: in the last {LAST} seconds {arriving:.0} attempts a second arrive, so that the queue of the {noun} shrinks by {:.0} a second only, and {wasted} of all that was served was for clients that had gone.",
            capacity - arriving
        );
    }
    let too = match play.rival.summary.recovered {
        None => ", too,",
        Some(_) => "",
    };
    format!(
        "{with}{too} the server is still overloaded at the end: in the last {LAST} seconds {arriving:.0} attempts a second arrive and {succeeding:.0} calls succeed, and {wasted} of all that was served was for clients that had gone."
    )
}

/// Seconds.
const LAST: usize = 10;

/// Attempts and successes a second at the end of the run.
fn last(play: &Play) -> (f64, f64) {
    let seconds = play.asked.record.seconds.iter().rev().take(LAST);
    let (mut count, mut attempts, mut succeeded) = (0.0_f64, 0.0, 0.0);
    for second in seconds {
        count += 1.0;
        attempts += f64::from(second.attempts);
        succeeded += f64::from(second.succeeded);
    }
    (attempts / count.max(1.0), succeeded / count.max(1.0))
}

/// A budget allows each process retries that nothing has earned: of many processes that may be too much.
fn floor(play: &Play) -> Option<String> {
    let is_late = play.asked.summary.recovered.is_none_or(|time| {
        time > play
            .never
            .summary
            .recovered
            .unwrap_or_default()
            .saturating_add(CHANCE)
    });
    let spare = play.scene.capacity - play.scene.calls;
    let own = play.asked.contender.budget?;
    let processes = play.callers.clients.saturating_mul(play.callers.services);
    let floors = f64::from(processes) * own.floor;
    (is_late && spare > 0.0 && floors * 2.0 >= spare && own.share < GOOD).then(|| {
        let retries = if own.floor > 1.0 {
            format!("{} retries", rounded(own.floor))
        } else if own.floor < 1.0 {
            format!("{} of a retry", rounded(own.floor))
        } else {
            "a retry".to_owned()
        };
        let processes = match processes {
            1 => "1 process".to_owned(),
            many => format!("{many} processes"),
        };
        let (floors, spare) = (rounded(floors), rounded(spare));
        format!(
            "Each budget allows {retries} a second whatever happens (its `floor`): in {processes} that is {floors}, and the queue could shrink by {spare} a second."
        )
    })
}

fn fixed(play: &Play) -> Option<String> {
    let noun = noun(play.scene.trigger.kind);
    let fixes = &play.fixes;
    if fixes.is_empty() {
        return None;
    }
    let helpful = |fix: &&Fix| match (fix.summary.recovered, play.asked.summary.recovered) {
        (Some(better), Some(asked)) => better < asked,
        (better, _) => better.is_some(),
    };
    let words: Vec<String> = fixes
        .iter()
        .filter(helpful)
        .map(|fix| {
            let time = after(fix.summary.recovered.unwrap_or_default());
            format!(
                "{} (`{}`) it is back {time} after the {noun}",
                fix.what, fix.how
            )
        })
        .collect();
    Some(if words.is_empty() {
        let tried: Vec<&str> = fixes.iter().map(|fix| fix.what).collect();
        format!(
            "Played with {} it is not back sooner: fewer attempts, or more `--capacity`, would be.",
            tried.join(" or with ")
        )
    } else {
        format!("With {}.", words.join(", with "))
    })
}

/// No more decimals than say something.
pub(super) fn rounded(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
