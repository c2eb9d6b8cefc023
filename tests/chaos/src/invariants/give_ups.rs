//! Every give-up has a reason: what observers, callers and bodies saw.

use reattempt::{GiveUpReason, Verdict};

use super::Violation;
use crate::log::{AttemptEnd, CallEnd, Hook, What};
use crate::ops::{Effects, Op};
use crate::tales::{Run, Tale};

fn violation(tale: &Tale, what: &str) -> Violation {
    Violation::new(tale.ended, tale.id, format!("{:?}: {what}", tale.spec.op))
}

/// A failed call gives up once, any other not at all.
pub(super) fn one(run: &Run<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for tale in run
        .tales
        .values()
        .filter(|tale| tale.spec.op != Op::GuardedAlone)
    {
        let count = tale.gave_up().count();
        let expected = match tale.end {
            CallEnd::Failed(_) => 1,
            CallEnd::Ok | CallEnd::Dropped => usize::from(tale.had(Hook::Fallback)),
        };
        if count != expected {
            found.push(violation(
                tale,
                &format!("{:?}, and {count} give-ups were reported", tale.end),
            ));
        }
    }
    found
}

/// Reason and attempts are the same for observers and callers, and the attempts those that there were.
pub(super) fn agree(run: &Run<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for tale in run
        .tales
        .values()
        .filter(|tale| tale.spec.op != Op::GuardedAlone)
    {
        let seen = tale.attempts();
        for (_, attempt, reason) in tale.gave_up() {
            if let CallEnd::Failed(Some(reported)) = tale.end
                && reported != (reason, attempt)
            {
                found.push(violation(
                    tale,
                    &format!("its caller got {reported:?}, observers {reason:?} and {attempt}"),
                ));
            }
            // An attempt may be cut off before its body is first polled.
            let is_unseen = reason == GiveUpReason::Deadline && attempt == seen + 1;
            if attempt != seen && !is_unseen {
                found.push(violation(
                    tale,
                    &format!("gave up after {attempt} attempts, and there were {seen}"),
                ));
            }
        }
        let recovered: Vec<_> = tale
            .reported
            .iter()
            .filter_map(|(_, what)| match what {
                What::Recovered { attempt } => Some(*attempt),
                _ => None,
            })
            .collect();
        let expected: &[u32] = if tale.end == CallEnd::Ok && seen > 1 && !tale.had(Hook::Fallback) {
            &[seen]
        } else {
            &[]
        };
        if recovered != expected {
            found.push(violation(
                tale,
                &format!(
                    "{seen} attempts, {:?}, and recoveries {recovered:?} were reported",
                    tale.end
                ),
            ));
        }
        let failed = tale
            .reported
            .iter()
            .filter(|(_, what)| matches!(what, What::Failed { .. }))
            .count();
        let retries = tale.retries().count();
        if retries + 1 < seen as usize || failed < retries {
            found.push(violation(
                tale,
                &format!(
                    "{seen} attempts, and {retries} retries and {failed} failures were reported"
                ),
            ));
        }
    }
    found
}

/// The reason is one that there was.
pub(super) fn reasons(run: &Run<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for tale in run.tales.values() {
        for (_, attempt, reason) in tale.gave_up() {
            if !is_right(run, tale, attempt, reason) {
                found.push(violation(
                    tale,
                    &format!("gave up for the reason {reason:?}"),
                ));
            }
        }
    }
    found
}

fn is_right(run: &Run<'_>, tale: &Tale, attempt: u32, reason: GiveUpReason) -> bool {
    let spec = &tale.spec;
    let is_once =
        spec.op.effects() == Some(Effects::Once) && !matches!(spec.op, Op::Keyed | Op::Pay);
    let ends = |is_it: fn(AttemptEnd) -> bool| tale.bodies_of(attempt).any(|body| is_it(body.end));
    match reason {
        // A file may say less.
        GiveUpReason::Attempts => attempt == spec.max || spec.op == Op::Named,
        GiveUpReason::NotIdempotent => is_once,
        GiveUpReason::Permanent => ends(|end| end == AttemptEnd::Err(Verdict::Permanent)),
        GiveUpReason::Deadline => tale.limit().is_some(),
        GiveUpReason::RetryAfterTooLong => ends(|end| {
            matches!(
                end,
                AttemptEnd::Err(Verdict::Throttled(Some(_)) | Verdict::TransientAfter(_))
            )
        }),
        GiveUpReason::Budget => spec.budget.is_some() || spec.op == Op::Named,
        GiveUpReason::BreakerOpen => spec.op.is_guarded(),
        GiveUpReason::Throttle => spec.op.is_adaptive(),
        GiveUpReason::Strategy => spec.op == Op::Decided && attempt == 3,
        // Below a retry of another call, which knows its number.
        GiveUpReason::Nested => spec.op == Op::Inner && spec.max == 1 && attempt == 1,
        GiveUpReason::Disabled => run
            .common()
            .any(|record| record.what == What::RetriesOn(false) && record.at <= tale.ended),
        _ => false,
    }
}
