//! What happened on the server and in the database, against the answers that callers got.

use super::Violation;
use crate::log::{AttemptEnd, CallEnd};
use crate::ops::{ACCOUNTS, Effects};
use crate::tales::{Run, Tale};
use reattempt::Verdict;

fn of<'r>(run: &'r Run<'_>) -> impl Iterator<Item = (&'r Tale, Effects, u32)> {
    run.tales.values().filter_map(|tale| {
        let effects = tale.spec.op.effects()?;
        let count = run.counts.effects.get(&tale.id).copied();
        Some((tale, effects, count.unwrap_or_default()))
    })
}

fn violation(tale: &Tale, what: &str) -> Violation {
    let op = tale.spec.op;
    Violation::new(
        tale.ended,
        tale.id,
        format!("{op:?} answered {:?}, {what}", tale.end),
    )
}

/// A call that succeeded has done what it says.
pub(super) fn none_lost(run: &Run<'_>) -> Vec<Violation> {
    of(run)
        .filter(|(tale, effects, count)| {
            tale.end == CallEnd::Ok && *effects != Effects::Never && *count == 0
        })
        .map(|(tale, ..)| violation(tale, "and nothing happened"))
        .collect()
}

/// What must not happen twice has not.
pub(super) fn none_doubled(run: &Run<'_>) -> Vec<Violation> {
    of(run)
        .filter(|(_, effects, count)| match effects {
            Effects::AtLeastOnce => false,
            Effects::Once => *count > 1,
            Effects::Never => *count > 0,
        })
        .map(|(tale, _, count)| violation(tale, &format!("and it happened {count} times")))
        .collect()
}

/// Where every attempt was refused nothing has happened.
pub(super) fn none_refused(run: &Run<'_>) -> Vec<Violation> {
    let was_refused = |tale: &Tale| {
        tale.bodies.iter().all(|body| {
            matches!(
                body.end,
                AttemptEnd::Err(Verdict::Refused | Verdict::Throttled(_))
            )
        })
    };
    of(run)
        .filter(|(tale, _, count)| *count > 0 && was_refused(tale))
        .map(|(tale, _, count)| {
            violation(
                tale,
                &format!("each attempt was refused, and it happened {count} times"),
            )
        })
        .collect()
}

/// Transfers leave the sum as it is.
pub(super) fn balance(run: &Run<'_>) -> Vec<Violation> {
    let sum = run.counts.balance;
    let is_right = sum == ACCOUNTS;
    let what = format!("the accounts have {sum}, not {ACCOUNTS}");
    (!is_right)
        .then(|| Violation::new(run.counts.storm_ended, 0, what))
        .into_iter()
        .collect()
}
