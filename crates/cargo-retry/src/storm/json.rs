//! Everything for machines. Durations are numbers of seconds.

use std::time::Duration;

use reattempt_storm::record::Second;
use reattempt_storm::scene::Kind;
use reattempt_storm::server::Stale;
use reattempt_storm::summary::Summary;
use serde_json::{Value, json};

use super::play::{Fix, Play, Played};
use super::{meaning, setting};
use crate::policy::{Broken, Given};

pub(super) fn value(play: &Play, notes: &[String]) -> Value {
    let asked = &play.asked.contender;
    json!({
        "scene": scene(play),
        "policy": {
            "explanation": asked.policy.explain().to_string(),
            "has_budget": asked.is_budgeted(),
            "budget_share": asked.budget.map(|it| it.share),
            "budget_floor": asked.budget.map(|it| it.floor),
            "has_breaker": asked.breaker,
        },
        "notes": notes,
        "runs": play.all().map(run),
        "fixes": play.fixes.iter().map(fix).collect::<Vec<_>>(),
        "meaning": meaning::sentences(play),
    })
}

/// Everything that is wrong with a policy.
pub(super) fn faults(given: &Given) -> Value {
    let fault = |broken: &Broken| {
        let place = broken.place.clone();
        json!({
            "rule": broken.rule,
            "message": broken.message,
            "written": place.and_then(|place| given.text.get(place)),
        })
    };
    json!({ "faults": given.broken.iter().map(fault).collect::<Vec<_>>() })
}

fn scene(play: &Play) -> Value {
    let Play { scene, callers, .. } = play;
    let time = &scene.trigger.time;
    let (part, times) = match scene.trigger.kind {
        Kind::Outage | Kind::Errors => (None, None),
        Kind::Slowdown(part) => (Some(part), None),
        Kind::Burst(times) => (None, Some(times)),
    };
    json!({
        "load": scene.calls,
        "capacity": scene.capacity,
        "chain": callers.services,
        "clients": callers.clients,
        "timeout": scene.timeout.as_secs_f64(),
        "drops_stale": scene.stale == Stale::Dropped,
        "trigger": {
            "kind": setting::noun(scene.trigger.kind),
            "from": time.start.as_secs_f64(),
            "until": time.end.as_secs_f64(),
            "to": part,
            "times": times,
        },
        "length": scene.end.as_secs_f64(),
        "seed": scene.seed,
    })
}

fn run(played: &Played) -> Value {
    json!({
        "name": played.contender.name,
        "keeps_protocol": played.contender.keeps_protocol,
        "summary": summary(&played.summary),
        "seconds": played.record.seconds.iter().map(second).collect::<Vec<_>>(),
    })
}

fn fix(fix: &Fix) -> Value {
    json!({
        "what": fix.what,
        "how": fix.how,
        "summary": summary(&fix.summary),
    })
}

fn summary(summary: &Summary) -> Value {
    json!({
        "calls": summary.calls,
        "attempts": summary.attempts,
        "peak_load": summary.peak_load,
        "amplification": summary.amplification,
        "peak_amplification": summary.peak_amplification,
        "succeeded": summary.succeeded,
        "open": summary.open,
        "wasted": summary.wasted,
        "recovered_after": summary.recovered.as_ref().map(Duration::as_secs_f64),
        "p50": summary.median.as_secs_f64(),
        "p99": summary.p99.as_secs_f64(),
    })
}

fn second(second: &Second) -> Value {
    json!({
        "calls": second.calls,
        "attempts": second.attempts,
        "attempts_of_its_calls": second.made,
        "succeeded": second.succeeded,
        "failed": second.failed,
        "timed_out": second.timed_out,
        "wasted": second.wasted,
    })
}
