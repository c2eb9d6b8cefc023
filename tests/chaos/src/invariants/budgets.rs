//! Budgets, counted by what bodies and callers saw.

use std::time::Duration;

use super::Violation;
use crate::log::{At, CallEnd};
use crate::shared_budgets::{Rule, SharedBudget};
use crate::tales::{Run, Tale};

/// What was paid and what was paid in, each in order of time.
#[derive(Debug, Default)]
struct Book {
    payments: Vec<At>,
    successes: Vec<At>,
    recoveries: Vec<At>,
    requests: Vec<At>,
}

impl Book {
    fn of(run: &Run<'_>, budget: SharedBudget) -> Self {
        let mut book = Self::default();
        for tale in run
            .tales
            .values()
            .filter(|tale| tale.spec.budget == Some(budget))
        {
            book.add(tale);
        }
        for list in [
            &mut book.payments,
            &mut book.successes,
            &mut book.recoveries,
            &mut book.requests,
        ] {
            list.sort_unstable();
        }
        book
    }

    fn add(&mut self, tale: &Tale) {
        self.requests.push(tale.began);
        // The first body of a call is free: all others are retries or copies.
        self.payments
            .extend(tale.bodies.iter().skip(1).map(|body| body.began));
        if tale.end == CallEnd::Ok {
            // As early as it can have been: when a body ended well. `verify` may have found it done.
            let well = tale.bodies.iter().rev().map(|body| body.ended).min();
            let at = well.unwrap_or(tale.ended);
            if tale.attempts() > 1 {
                self.recoveries.push(at);
            } else {
                self.successes.push(at);
            }
        }
    }
}

fn between(list: &[At], from: At, to: At) -> f64 {
    let count = |at: At| list.partition_point(|moment| *moment <= at);
    let before = list.partition_point(|moment| *moment < from);
    count(to).saturating_sub(before) as f64
}

/// What may have been paid in from `from` on, with what was there then.
fn most(rule: &Rule, book: &Book, from: At, to: At) -> f64 {
    // A retry is paid for before its delay: what begins now may have been paid for as long ago.
    const DELAY: Duration = Duration::from_millis(1500);
    let paid_from = from.saturating_sub(DELAY);
    let young_from = paid_from.saturating_sub(rule.ttl);
    let reserve = if rule.floor > 0.0 {
        rule.initial + 1.0
    } else {
        rule.initial
    };
    reserve
        + rule.floor * to.saturating_sub(paid_from).as_secs_f64()
        + rule.success * between(&book.successes, young_from, to)
        + rule.recovered * between(&book.recoveries, young_from, to)
        + rule.request * between(&book.requests, young_from, to)
}

/// In no span of time more retries and copies than were paid for.
pub(super) fn paid(run: &Run<'_>) -> Vec<Violation> {
    const STEP: Duration = Duration::from_secs(1);
    let mut found = Vec::new();
    for budget in SharedBudget::ALL {
        let (rule, book) = (budget.rule(), Book::of(run, budget));
        let mut from = Duration::ZERO;
        while book.payments.last().is_some_and(|last| from < *last) {
            for to in book.payments.iter().filter(|at| **at > from) {
                let cost = rule.cost * between(&book.payments, from, *to);
                let most = most(&rule, &book, from, *to);
                if cost > most + 1e-6 {
                    let what = format!(
                        "{budget:?}: {cost} tokens were spent from {from:?} to {to:?}, and there were at most {most:.1}"
                    );
                    found.push(Violation::new(*to, 0, what));
                    break;
                }
            }
            from += STEP;
        }
    }
    found
}
