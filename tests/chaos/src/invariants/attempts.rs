//! How many attempts there are, and what lies between them.

use std::time::Duration;

use reattempt::Verdict;

use super::Violation;
use crate::log::{At, AttemptEnd, Hook, What};
use crate::ops::Op;
use crate::tales::{Run, Tale};

/// Numbered from 1, one after the other, at most `max` of them.
pub(super) fn numbers(run: &Run<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for tale in run.tales.values() {
        let mut wrong = |at: At, what: String| {
            let op = tale.spec.op;
            found.push(Violation::new(at, tale.id, format!("{op:?}: {what}")));
        };
        if tale.attempts() > tale.spec.max {
            let (attempts, max) = (tale.attempts(), tale.spec.max);
            wrong(
                tale.ended,
                format!("{attempts} attempts, and {max} are allowed"),
            );
        }
        for number in 1..=tale.attempts() {
            let mut bodies = tale.bodies_of(number);
            let Some(first) = bodies.next() else {
                wrong(tale.ended, format!("there is no attempt {number}"));
                continue;
            };
            if !tale.spec.op.is_hedged() && bodies.next().is_some() {
                wrong(first.began, format!("attempt {number} begins twice"));
            }
            if tale
                .bodies_of(number + 1)
                .any(|next| next.began < first.began)
            {
                wrong(
                    first.began,
                    format!("attempt {number} begins after the next"),
                );
            }
        }
    }
    found
}

/// What the service asked for with the failures of an attempt.
fn asked(tale: &Tale, attempt: u32) -> Vec<Duration> {
    let ends = tale.bodies_of(attempt).map(|body| body.end);
    ends.filter_map(|end| match end {
        AttemptEnd::Err(Verdict::Throttled(Some(delay)) | Verdict::TransientAfter(delay)) => {
            Some(delay)
        }
        _ => None,
    })
    .collect()
}

/// No delay is above the cap, jitter included; what the service asks for is never shortened.
pub(super) fn delays(run: &Run<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for tale in run.tales.values() {
        for (at, attempt, delay) in tale.retries() {
            let asked = asked(tale, attempt);
            // A tenth on top.
            let is_asked = asked
                .iter()
                .any(|asked| *asked <= delay && delay <= *asked * 11 / 10);
            // Of several copies the error of one counts, which may have asked for nothing.
            let is_own = delay <= tale.spec.cap && (asked.is_empty() || tale.spec.op.is_hedged());
            if !is_asked && !is_own {
                let what = format!(
                    "{:?}: a delay of {delay:?}, cap {:?}, asked for {asked:?}",
                    tale.spec.op, tale.spec.cap
                );
                found.push(Violation::new(at, tale.id, what));
            }
        }
    }
    found
}

/// The next attempt begins after its delay, and not very much later: how late a thread is that has used up its share of
/// a processor, nobody measures.
pub(super) fn waits(run: &Run<'_>) -> Vec<Violation> {
    // Timers count in milliseconds.
    const TICK: Duration = Duration::from_millis(2);
    const LATE: Duration = Duration::from_millis(500);
    let mut found = Vec::new();
    for tale in run.tales.values() {
        for (at, attempt, delay) in tale.retries() {
            let Some(next) = tale.bodies_of(attempt + 1).next() else {
                continue;
            };
            let took = next.began.saturating_sub(at);
            let is_late = took > delay + LATE + run.tolerance(at, next.began);
            // The wait for a turn comes on top, and a hook.
            let may_be_late = matches!(
                tale.spec.op,
                Op::Cubic | Op::Hooked | Op::Layer | Op::Everything
            );
            if took + TICK < delay || is_late && !may_be_late {
                let what = format!(
                    "{:?}: attempt {} began after {took:?} instead of {delay:?}",
                    tale.spec.op,
                    attempt + 1
                );
                found.push(Violation::new(next.began, tale.id, what));
            }
        }
    }
    found
}

/// While retries are switched off there is none. Who has waited already, and is in its last hook, makes the one attempt.
pub(super) fn switch(run: &Run<'_>) -> Vec<Violation> {
    let mut off = Vec::new();
    let mut since = None;
    for record in run.common() {
        match record.what {
            What::RetriesOn(false) => since = Some(record.at),
            What::RetriesOn(true) => off.extend(since.take().map(|since| (since, record.at))),
            _ => (),
        }
    }
    let mut found = Vec::new();
    for tale in run.tales.values() {
        for body in tale.bodies.iter().filter(|body| body.number > 1) {
            let first = tale.bodies_of(body.number).next();
            // A copy of a retry that began before, which also looks at the switch, but is no retry.
            let is_copy = first.is_some_and(|first| first.copy != body.copy);
            let before = tale.bodies_of(body.number - 1).map(|body| body.ended);
            let before = before.max().unwrap_or_default();
            let is_off = |(from, to): &(At, At)| {
                let until = *from + run.tolerance(*from, *from);
                let has_waited = |(hook, at): &(Hook, At)| {
                    *hook == Hook::BeforeRetry && before <= *at && *at <= until
                };
                if tale.hooks.iter().any(has_waited) {
                    return false;
                }
                body.began > *from + run.tolerance(*from, body.began) && body.began < *to
            };
            if !is_copy && off.iter().any(is_off) {
                let what = format!(
                    "{:?}: attempt {} while retries are off",
                    tale.spec.op, body.number
                );
                found.push(Violation::new(body.began, tale.id, what));
            }
        }
    }
    found
}
