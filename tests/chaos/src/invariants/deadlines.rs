//! Time-outs and deadlines: a call's own, those from above, those from the header of a request.

use super::Violation;
use crate::log::{CallEnd, Hook, What};
use crate::ops::Op;
use crate::tales::Run;

/// No attempt begins after the deadline. The first one of a call that cannot be cut off is made all the same.
pub(super) fn begins(run: &Run<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for tale in run.tales.values() {
        let Some(limit) = tale.limit() else {
            continue;
        };
        for body in &tale.bodies {
            if body.number == 1 && !tale.spec.op.is_cut_off() {
                continue;
            }
            if body.began > limit + run.tolerance(limit, body.began) {
                let late = body.began.saturating_sub(limit);
                let what = format!(
                    "attempt {} of {:?} begins {late:?} after the deadline",
                    body.number, tale.spec.op
                );
                found.push(Violation::new(body.began, tale.id, what));
            }
        }
    }
    found
}

/// No attempt that is cut off runs longer than its time-out, or on after the deadline.
pub(super) fn cut_off(run: &Run<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for tale in run.tales.values().filter(|tale| tale.is_cut_off()) {
        for body in &tale.bodies {
            let timeout = tale.spec.timeout.map(|timeout| body.began + timeout);
            let Some(limit) = timeout.into_iter().chain(tale.limit()).min() else {
                continue;
            };
            if body.ended > limit + run.tolerance(limit, body.ended) {
                let late = body.ended.saturating_sub(limit);
                let what = format!(
                    "attempt {} of {:?} runs {late:?} too long",
                    body.number, tale.spec.op
                );
                found.push(Violation::new(body.ended, tale.id, what));
            }
        }
    }
    found
}

/// Neither does a call; only its fallback comes after the deadline.
pub(super) fn ends(run: &Run<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for tale in run.tales.values() {
        let Some(limit) = tale.limit() else {
            continue;
        };
        let is_bound = tale.is_cut_off() && !tale.had(Hook::Fallback);
        if is_bound
            && tale.end != CallEnd::Dropped
            && tale.ended > limit + run.tolerance(limit, tale.ended)
        {
            let late = tale.ended.saturating_sub(limit);
            let what = format!("{:?} ends {late:?} after the deadline", tale.spec.op);
            found.push(Violation::new(tale.ended, tale.id, what));
        }
    }
    found
}

/// The server does not begin what is over already.
pub(super) fn refuses(run: &Run<'_>) -> Vec<Violation> {
    let is_late = |id| {
        run.tales
            .get(&id)
            .is_some_and(|tale| tale.spec.op == Op::Late)
    };
    let begun = run
        .records
        .iter()
        .filter(|record| matches!(record.what, What::Request { .. }));
    begun
        .filter(|record| is_late(record.call))
        .map(|record| {
            let what = "the server began a request whose deadline was over".to_owned();
            Violation::new(record.at, record.call, what)
        })
        .collect()
}
