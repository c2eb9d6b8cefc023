//! Throttles: the rate that cubic says, and what adaptive may turn away.

use std::time::Duration;

use reattempt::GiveUpReason;

use super::Violation;
use crate::log::{At, AttemptEnd, What};
use crate::ops::Op;
use crate::shared_budgets::{ADAPTIVE_FACTOR, ADAPTIVE_MINIMUM, ADAPTIVE_WINDOW};
use crate::tales::Run;

/// No more calls begin than tokens came, with those of a second that were saved up.
pub(super) fn rate(run: &Run<'_>) -> Vec<Violation> {
    const SPAN: Duration = Duration::from_millis(1500);
    const STEP: Duration = Duration::from_millis(250);
    let rates = run.common().filter_map(|record| match record.what {
        What::Rate(rate) => Some((record.at, rate)),
        _ => None,
    });
    let rates: Vec<_> = rates.collect();
    let tales = run.tales.values().filter(|tale| tale.spec.op == Op::Cubic);
    let mut begun: Vec<At> = tales
        .flat_map(|tale| tale.bodies.iter().map(|body| body.began))
        .collect();
    begun.sort_unstable();
    let mut found = Vec::new();
    let mut from = Duration::from_secs(1);
    while rates.last().is_some_and(|(last, _)| from < *last) {
        let to = from + SPAN;
        // The rate before holds on until it changes.
        let first = rates
            .partition_point(|(at, _)| *at < from)
            .saturating_sub(1);
        let around = rates[first..].iter().take_while(|(at, _)| *at <= to);
        let highest = around
            .map(|(_, rate)| rate.unwrap_or(f64::INFINITY))
            .fold(0.5, f64::max);
        let span = SPAN + run.tolerance(from, to);
        let most = highest * span.as_secs_f64() + highest.max(1.0) + 1.0;
        let count = begun.iter().filter(|at| from <= **at && **at <= to).count();
        if count as f64 > most {
            let what = format!(
                "cubic: {count} calls begin within {SPAN:?}, and at most {highest:.2} a second may"
            );
            found.push(Violation::new(from, 0, what));
        }
        from += STEP;
    }
    found
}

/// Adaptive turns away what the service does not accept, cubic nothing.
pub(super) fn turned_away(run: &Run<'_>) -> Vec<Violation> {
    let mut refusals = Vec::new();
    let mut found = Vec::new();
    for tale in run.tales.values() {
        for (at, _, reason) in tale.gave_up() {
            match (tale.spec.op, reason) {
                (op, GiveUpReason::Throttle) if op.is_adaptive() => refusals.push((at, tale.id)),
                (op, GiveUpReason::Throttle) => {
                    found.push(Violation::new(
                        at,
                        tale.id,
                        format!("a throttle turns {op:?} away"),
                    ));
                }
                _ => (),
            }
        }
    }
    let tales = run.tales.values().filter(|tale| tale.spec.op.is_adaptive());
    let bodies: Vec<_> = tales.flat_map(|tale| &tale.bodies).collect();
    for (at, id) in &refusals {
        let tolerance = run.tolerance(*at, *at);
        let is_young =
            |moment: At| moment + ADAPTIVE_WINDOW + tolerance >= *at && moment <= *at + tolerance;
        // The window is sixteen parts, of which the oldest is on its way out.
        let is_certain = |moment: At| {
            moment + ADAPTIVE_WINDOW * 15 / 16 >= *at + tolerance && moment + tolerance <= *at
        };
        let requests = bodies.iter().filter(|body| is_young(body.ended)).count()
            + refusals
                .iter()
                .filter(|(moment, _)| is_young(*moment))
                .count();
        let accepts = bodies
            .iter()
            .filter(|body| body.end == AttemptEnd::Ok && is_certain(body.ended))
            .count();
        if requests < ADAPTIVE_MINIMUM as usize
            || requests as f64 <= ADAPTIVE_FACTOR * accepts as f64
        {
            let what = format!(
                "adaptive turns a call away after {requests} requests, of which {accepts} were accepted"
            );
            found.push(Violation::new(*at, *id, what));
        }
    }
    found
}
