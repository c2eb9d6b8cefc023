//! How the turns of a loop follow each other: after a sleep, after a call that waits, or at once.

use syn::{Expr, Stmt};

use super::counters::has_word;
use super::facts::Facts;
use super::failure::Failure;
use super::names;
use super::parts::Parts;
use super::tries::{By, Try};
use super::turn::Turn;
use crate::code::written;
use crate::suggest::brief;

/// What names a function that waits.
const WAITS: &[&str] = &["backoff", "delay", "sleep", "wait"];

/// What a loop waits in.
pub(super) struct Waits {
    sleeps: bool,
    callee: Option<String>,
    is_counted: bool,
}

impl Waits {
    /// Of a loop that sleeps, waits or calls its turns attempts.
    pub(super) fn of(
        parts: &Parts<'_>,
        facts: &Facts,
        sleeping: &dyn Fn(&str) -> bool,
    ) -> Option<Self> {
        let counts_attempts = parts.counts_attempts(facts);
        let waits = |it: &&String| sleeping(it) || (counts_attempts && has_word(it, WAITS));
        let waits = Self {
            sleeps: facts.sleep.is_some(),
            callee: facts.calls.iter().find(waits).cloned(),
            is_counted: parts.is_counted(facts),
        };
        let is_named = |it: &String| parts.turns.is_none() && has_word(it, WAITS);
        let is_one = match &waits.callee {
            Some(callee) => waits.is_counted || is_named(callee),
            None => counts_attempts,
        };
        (waits.sleeps || is_one).then_some(waits)
    }

    pub(super) const fn is_immediate(&self) -> bool {
        !self.sleeps && self.callee.is_none()
    }

    /// Without a sleep, what is asked alone says that it retries.
    pub(super) fn is_clear(&self, place: Option<usize>, asked: Option<&Try<'_>>) -> bool {
        self.sleeps
            || match asked.and_then(|it| it.by) {
                // `while let Err(_) = ask()`
                None => place.is_none(),
                Some(By::IsOk(_)) => self.is_counted,
                Some(_) => true,
            }
    }

    /// What a delay does not say.
    pub(super) fn missing(
        &self,
        facts: &Facts,
        failure: &Failure<'_>,
        turn: Option<&Turn<'_>>,
        tried: Option<&Expr>,
    ) -> Option<String> {
        let first = turn.map(|it| &*it.first).unwrap_or_default();
        let sleeps = |it: &&Stmt| Facts::of_statement(it).sleep.is_some();
        if let Some(sleep) = &facts.sleep {
            let is_elsewhere = failure.never_sleeps() && !first.iter().any(sleeps);
            return is_elsewhere.then(|| {
                format!(
                    "`base`: the loop sleeps for `{}` elsewhere, and not after a failure",
                    brief(&written(sleep))
                )
            });
        }
        let callee = self.callee.as_ref()?;
        let mut of_attempt = tried.map(names).unwrap_or_default();
        of_attempt.extend(turn.iter().flat_map(|it| &it.before).flat_map(names));
        Some(if of_attempt.contains(callee) {
            format!(
                "`base`: nothing sleeps between the attempts, unless `{callee}` does, a part of what is tried"
            )
        } else {
            format!(
                "`base`: the loop waits in `{callee}`; write its delay as `base` or `backoff`, and take it out of there"
            )
        })
    }
}
