//! The policy that was asked about: from its keys or from a file, with a report of what cannot be played.

use retry_runtime::rules::budget_share;

use super::allowance::Allowance;
use super::arguments::Arguments;
use super::contender::Contender;
use crate::policy::{Given, Refused, from_file, from_text};

/// The share of a budget that only the program knows.
const SHARE: f64 = 0.1;

/// A policy, and what to say of it.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) contender: Contender,
    pub(super) notes: Vec<String>,
}

/// What the arguments say of it.
pub(super) fn given(asked: &Arguments) -> Result<Given, Refused> {
    let text = asked.policy.as_deref().unwrap_or_default();
    match &asked.config {
        Some(path) => from_file(path, text),
        None => Ok(from_text(text)),
    }
}

/// What there is to play of it; a policy that breaks no rule.
pub(super) fn policy(asked: &Arguments, given: &Given) -> Result<Asked, String> {
    is_code(given)?;
    let mut contender = Contender::given("this policy", given);
    let mut notes = notes(given);
    let is_given = contender.breaker;
    contender.breaker |= asked.breaker;
    if let Some(share) = asked.budget {
        contender.budget = Some(Allowance::new(checked(share)?));
    } else if given.policy.is_budgeted() && !contender.is_budgeted() {
        contender.budget = Allowance::written(&given.text);
        if contender.budget.is_none() {
            contender.budget = Some(Allowance::new(SHARE));
            notes.push(format!(
                "what its `budget` is only the program knows: played with `budget = {SHARE}`, which has a `floor` of 1 retry a second"
            ));
        }
    }
    if is_given {
        notes.push(
            "what its `breaker` is only the program knows: played with `Breaker::count_window(20)`"
                .to_owned(),
        );
    }
    if !contender.policy.is_idempotent() {
        notes.push(
            "a time-out may have been executed: `idempotent = false` retries none".to_owned(),
        );
    }
    Ok(Asked { contender, notes })
}

fn is_code(given: &Given) -> Result<(), String> {
    if let Some((key, code)) = given.unknown.iter().find(|(key, _)| key == "strategy") {
        return Err(format!(
            "`{key} = {code}` is code, which only the program can run; give the keys that come near to it, such as `max = 4, base = \"200ms\"`"
        ));
    }
    Ok(())
}

fn checked(share: f64) -> Result<f64, String> {
    match budget_share(share) {
        None => Ok(share),
        Some(refusal) => Err(refusal.to_string()),
    }
}

fn notes(given: &Given) -> Vec<String> {
    let unknown = given.unknown.iter().map(|(key, code)| {
        format!(
            "what `{key} = {code}` is only the program knows: played with the default in its place"
        )
    });
    let unplayed = given.beside.iter().filter(|key| **key != "breaker");
    let unplayed = unplayed.map(|key| format!("`{key}` is not played"));
    given
        .notes
        .iter()
        .cloned()
        .chain(unknown)
        .chain(unplayed)
        .collect()
}
