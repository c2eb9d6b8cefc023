//! Copies of attempts.

use std::time::Duration;

use super::Violation;
use crate::ops::shared::{COPIES, COPY_AFTER};
use crate::tales::Run;

/// At most so many, each of which waits for its time.
pub(super) fn copies(run: &Run<'_>) -> Vec<Violation> {
    const TICK: Duration = Duration::from_millis(2);
    let mut found = Vec::new();
    for tale in run.tales.values().filter(|tale| tale.spec.op.is_hedged()) {
        for number in 1..=tale.attempts() {
            let bodies: Vec<_> = tale.bodies_of(number).collect();
            let Some(first) = bodies.first() else {
                continue;
            };
            if bodies.len() > 1 + COPIES as usize {
                let what = format!("{} copies of attempt {number}", bodies.len() - 1);
                found.push(Violation::new(first.began, tale.id, what));
            }
            for pair in bodies.windows(2) {
                let gap = pair[1].began.saturating_sub(pair[0].began);
                // The clock starts when the attempt does, before its body says so.
                if gap + TICK + run.tolerance(pair[0].began, pair[1].began) / 2 < COPY_AFTER {
                    let what = format!("a copy of attempt {number} after {gap:?}");
                    found.push(Violation::new(pair[1].began, tale.id, what));
                }
            }
        }
    }
    found
}

/// What is still running when an attempt has its outcome goes with it.
pub(super) fn losers(run: &Run<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for tale in run.tales.values().filter(|tale| tale.spec.op.is_hedged()) {
        for body in &tale.bodies {
            let next = tale
                .bodies_of(body.number + 1)
                .next()
                .map(|next| next.began);
            let over = next.unwrap_or(tale.ended);
            if body.ended > over + run.tolerance(over, body.ended) {
                let late = body.ended.saturating_sub(over);
                let what = format!(
                    "copy {} of attempt {} goes on for {late:?}",
                    body.copy, body.number
                );
                found.push(Violation::new(body.ended, tale.id, what));
            }
        }
    }
    found
}
