//! Breakers: the changes that their observers saw, against when bodies ran and calls were turned away.

use std::time::Duration;

use reattempt::GiveUpReason;
use reattempt::overload::breaker::State;

use super::Violation;
use crate::log::{At, AttemptEnd, Id, What};
use crate::shared_budgets::{COOLDOWN, KEYS, probes as allowed};
use crate::tales::{Ran, Run, Tale};

/// The life of one breaker.
struct Life {
    key: u16,
    changes: Vec<(At, State, Duration)>,
    bodies: Vec<(Id, Ran)>,
}

fn lives<'r>(run: &'r Run<'_>) -> impl Iterator<Item = Life> + 'r {
    (0..KEYS).map(|key| {
        let changes = run.common().filter_map(|record| match record.what {
            What::Breaker {
                key: of,
                to,
                cooldown,
            } if of == key => Some((record.at, to, cooldown.unwrap_or_default())),
            _ => None,
        });
        let tales = run.tales.values();
        let tales = tales.filter(|tale| tale.spec.op.is_guarded() && tale.spec.key == key);
        let bodies = tales.flat_map(|tale| {
            (1..=tale.attempts()).filter_map(|number| Some((tale.id, attempt(tale, number)?)))
        });
        let mut bodies: Vec<_> = bodies.collect();
        bodies.sort_by_key(|(_, body)| body.began);
        Life {
            key,
            changes: changes.collect(),
            bodies,
        }
    })
}

/// All copies of an attempt have one permit.
fn attempt(tale: &Tale, number: u32) -> Option<Ran> {
    let mut all = *tale.bodies_of(number).next()?;
    for copy in tale.bodies_of(number) {
        all.ended = all.ended.max(copy.ended);
        if copy.end == AttemptEnd::Ok {
            all.end = AttemptEnd::Ok;
        }
    }
    Some(all)
}

impl Life {
    /// Each state with its beginning, its end and its cool-down.
    fn states(&self) -> impl Iterator<Item = (State, At, At, Duration)> + '_ {
        self.changes
            .iter()
            .enumerate()
            .map(|(n, (at, state, cooldown))| {
                let end = self
                    .changes
                    .get(n + 1)
                    .map_or(Duration::MAX, |(at, ..)| *at);
                (*state, *at, end, *cooldown)
            })
    }
}

/// While it is open no attempt reaches the service, for as long as the cool-down lasts.
pub(super) fn open(run: &Run<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for life in lives(run) {
        let key = life.key;
        for (_, from, to, cooldown) in life.states().filter(|(state, ..)| *state == State::Open) {
            let inside = life.bodies.iter().filter(|(_, body)| {
                body.began > from + run.tolerance(from, body.began)
                    && body.began + run.tolerance(body.began, to.min(body.began)) < to
            });
            found.extend(inside.map(|(id, body)| {
                let what = format!("breaker {key} is open since {from:?}, and an attempt begins");
                Violation::new(body.began, *id, what)
            }));
            let lasted = to.saturating_sub(from);
            if lasted + run.tolerance(from, from) < cooldown {
                let what = format!(
                    "breaker {key} was open for {lasted:?}, and its cool-down is {cooldown:?}"
                );
                found.push(Violation::new(from, 0, what));
            }
        }
    }
    found
}

/// While it is half-open as many attempts as there may be probes.
pub(super) fn probes(run: &Run<'_>) -> Vec<Violation> {
    // Probes that take longer are given up on, and others may take their place.
    const PATIENCE: Duration = Duration::from_millis(COOLDOWN.as_millis() as u64 - 100);
    let mut found = Vec::new();
    for life in lives(run) {
        for (_, from, to, _) in life
            .states()
            .filter(|(state, ..)| *state == State::HalfOpen)
        {
            let mut probing: Vec<&Ran> = Vec::new();
            for (id, body) in &life.bodies {
                let begins = body.began;
                let tolerance = run.tolerance(begins, begins);
                if begins < from || begins + tolerance > to {
                    continue;
                }
                if probing
                    .last()
                    .is_some_and(|last| last.began + PATIENCE < begins)
                {
                    probing.clear();
                }
                probing.push(body);
                let counts =
                    |probe: &&&Ran| probe.ended > begins + tolerance || probe.end == AttemptEnd::Ok;
                let count = probing.iter().filter(counts).count();
                if count > allowed(life.key) as usize {
                    let (key, allowed) = (life.key, allowed(life.key));
                    let what = format!(
                        "breaker {key}: {count} probes since {from:?}, {allowed} are allowed"
                    );
                    found.push(Violation::new(begins, *id, what));
                }
            }
        }
    }
    found
}

/// It turns calls away while it is open, and while its probes are under way: a permit that is not needed any more is
/// there for the next call.
pub(super) fn refusals(run: &Run<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for life in lives(run) {
        let key = life.key;
        for (at, id) in refused(run, key) {
            let tolerance = run.tolerance(at.saturating_sub(COOLDOWN), at);
            let is_near = |change: &At| change.abs_diff(at) <= tolerance;
            if life.changes.iter().any(|(change, ..)| is_near(change)) {
                continue;
            }
            let last = life.changes.iter().rev().find(|(change, ..)| *change < at);
            let (since, state, cooldown) =
                last.copied()
                    .unwrap_or((Duration::ZERO, State::Closed, Duration::ZERO));
            let reason = match state {
                State::Open if at <= since + cooldown + tolerance => continue,
                State::Open => format!("its cool-down of {cooldown:?} is over"),
                State::HalfOpen => {
                    let is_held = |body: &Ran| {
                        body.began + tolerance >= since
                            && body.began <= at + tolerance
                            && (body.ended + 2 * tolerance >= at || body.end == AttemptEnd::Ok)
                    };
                    let held = life.bodies.iter().filter(|(_, body)| is_held(body)).count();
                    if held >= allowed(key) as usize {
                        continue;
                    }
                    format!("{held} of {} probes are under way", allowed(key))
                }
                state => format!("it is {state:?}"),
            };
            let what = format!("breaker {key} refuses a call, and since {since:?} {reason}");
            found.push(Violation::new(at, id, what));
        }
    }
    found
}

/// When calls were turned away.
fn refused(run: &Run<'_>, key: u16) -> Vec<(At, Id)> {
    let is_of = |id: Id| {
        run.tales
            .get(&id)
            .is_some_and(|tale| tale.spec.op.is_guarded() && tale.spec.key == key)
    };
    let refused = run.records.iter().filter(|record| match record.what {
        What::Refused
        | What::GaveUp {
            reason: GiveUpReason::BreakerOpen,
            ..
        } => is_of(record.call),
        _ => false,
    });
    refused.map(|record| (record.at, record.call)).collect()
}
