//! The arguments as a scene, or what is wrong with them and the fix.

use std::time::Duration;

use reattempt_storm::scene::{Arrivals, Kind, Scene, Trigger};
use reattempt_storm::server::Stale;
use retry_runtime::duration::Human;

use super::arguments::Arguments;

/// The most calls of a run: some seconds of work, some hundred megabytes.
const CALLS: f64 = 1_000_000.0;

const CLIENTS: u32 = 10_000;

/// The most services one above the other: those that a name of the retry protocol leads through.
const SERVICES: u32 = 8;

/// The scene; the limit of an attempt is that of the arguments.
pub(super) fn scene(asked: &Arguments) -> Result<Scene, String> {
    let trigger = trigger(asked)?;
    rate(asked.load, "load", "calls nothing", "--load 100")?;
    rate(
        asked.capacity,
        "capacity",
        "serves nothing, with or without an outage",
        "--capacity 120",
    )?;
    positive(asked.timeout, "timeout", "1s")?;
    positive(asked.length, "for", "4m")?;
    if asked.clients == 0 {
        return Err("nobody calls the server; give at least 1 process, `--clients 1`".to_owned());
    }
    if asked.clients > CLIENTS {
        let clients = asked.clients;
        return Err(format!(
            "{clients} clients are more than this plays; give `--clients {CLIENTS}` or fewer"
        ));
    }
    if !(1..=SERVICES).contains(&asked.chain) {
        let chain = asked.chain;
        return Err(format!(
            "a chain has 1 to {SERVICES} services, and {chain} are not; give `--chain 5`"
        ));
    }
    let end = trigger.time.end;
    if end >= asked.length {
        let noun = noun(trigger.kind);
        let (end, length) = (Human(end), Human(asked.length));
        let wanted = written(
            trigger
                .time
                .end
                .saturating_mul(2)
                .max(Duration::from_secs(60)),
        );
        return Err(format!(
            "the {noun} ends at {end}, and the run at {length}: what comes after it is what matters; give `--for {wanted}`, or begin it earlier with `--at`"
        ));
    }
    let scene = Scene {
        calls: asked.load,
        arrivals: Arrivals::Poisson,
        capacity: asked.capacity,
        stale: if asked.drop_stale {
            Stale::Dropped
        } else {
            Stale::Served
        },
        timeout: asked.timeout,
        trigger,
        end: asked.length,
        seed: asked.seed,
    };
    let calls = calls(&scene);
    if calls > CALLS {
        let part = (calls / CALLS).ceil();
        return Err(format!(
            "this would be {calls:.0} calls, and a run has at most {CALLS:.0}: play a part of it, with `--load`, `--capacity` and `--clients` divided by {part:.0}, or a shorter `--for`"
        ));
    }
    Ok(scene)
}

fn trigger(asked: &Arguments) -> Result<Trigger, String> {
    let (kind, length) = match (asked.slowdown, asked.burst, asked.failure) {
        (Some(length), ..) => (Kind::Slowdown(part(asked.to.unwrap_or(0.2))?), length),
        (_, Some(length), _) => (Kind::Burst(times(asked.times.unwrap_or(3.0))?), length),
        (.., Some(length)) => (Kind::Errors, length),
        _ => (
            Kind::Outage,
            asked.outage.unwrap_or(Duration::from_secs(10)),
        ),
    };
    positive(length, noun(kind), "10s")?;
    Ok(Trigger {
        kind,
        time: asked.at..asked.at.saturating_add(length),
    })
}

fn part(part: f64) -> Result<f64, String> {
    if part > 0.0 && part < 1.0 {
        return Ok(part);
    }
    Err(if part == 0.0 {
        "a slowdown to 0 is an outage; give `--outage` in its place, or `--to 0.2`".to_owned()
    } else {
        format!(
            "a slowdown leaves a part of the capacity between 0 and 1, and {part} is none; give `--to 0.2`"
        )
    })
}

fn times(times: f64) -> Result<f64, String> {
    if times > 1.0 && times.is_finite() {
        return Ok(times);
    }
    Err(format!(
        "a burst of {times} times the load is none; give `--times 3`"
    ))
}

fn rate(rate: f64, key: &str, does: &str, fix: &str) -> Result<(), String> {
    if rate > 0.0 && rate.is_finite() {
        return Ok(());
    }
    Err(if rate == 0.0 {
        format!("a {key} of 0 {does}; give `{fix}`")
    } else {
        format!("a {key} is a number above 0, and {rate} is none; give `{fix}`")
    })
}

fn positive(time: Duration, key: &str, fix: &str) -> Result<(), String> {
    if time.is_zero() {
        return Err(format!(
            "`--{key}` of no time is nothing to look at; give `--{key} {fix}`"
        ));
    }
    Ok(())
}

/// Calls that arrive in the whole run.
fn calls(scene: &Scene) -> f64 {
    let time = &scene.trigger.time;
    let meanwhile = time.end.saturating_sub(time.start).as_secs_f64();
    scene.calls * (scene.end.as_secs_f64() - meanwhile) + scene.calls_meanwhile() * meanwhile
}

/// What a trigger is called.
pub(super) const fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Outage => "outage",
        Kind::Slowdown(_) => "slowdown",
        Kind::Burst(_) => "burst",
        Kind::Errors => "failure",
    }
}

/// As it is typed.
pub(super) fn written(time: Duration) -> String {
    Human(time).to_string().replace(' ', "")
}
