//! Whose calls meet the server: a policy, with the budget and the breaker of each process.

use reattempt_policy::Values;
use std::time::Duration;

use reattempt_storm::client::Client;
use reattempt_storm::scene::Service;
use retry_runtime::budget::RefundBudget;
use retry_runtime::{Backoff, Breaker, Budget, Policy};

use super::allowance::Allowance;
use crate::policy::Given;

/// A policy under which all calls of a run are made.
#[derive(Debug, Clone)]
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) policy: Policy,
    /// In place of that of the policy.
    pub(crate) budget: Option<Allowance>,
    /// With the budget that an operation has by default, although the policy turns it off.
    pub(crate) is_refunded: bool,
    pub(crate) breaker: bool,
    /// In a chain of services that keep the retry protocol.
    pub(crate) keeps_protocol: bool,
}

/// Of a policy without a limit to its attempts.
const TOKENS: u32 = 10;

impl Contender {
    pub(crate) const fn new(name: &'static str, policy: Policy) -> Self {
        Self {
            name,
            policy,
            budget: None,
            is_refunded: false,
            breaker: false,
            keeps_protocol: false,
        }
    }

    /// As it is given, with what its keys say of a budget and a breaker.
    pub(crate) fn given(name: &'static str, given: &Given) -> Self {
        Self {
            budget: given.share.map(Allowance::new),
            breaker: given.beside.contains(&"breaker"),
            ..Self::new(name, given.policy)
        }
    }

    pub(crate) const fn no_retry() -> Self {
        Self::new("no retry", Policy::new().max(1))
    }

    pub(crate) const fn immediate() -> Self {
        let policy = Policy::new().max(4).backoff(Backoff::None).without_budget();
        Self::new("3 immediate retries", policy)
    }

    pub(crate) const fn is_budgeted(&self) -> bool {
        self.budget.is_some()
            || self.policy.shared_budget().is_some()
            || self.policy.has_default_budget()
    }

    /// Whether it retries what times out.
    pub(crate) fn retries(&self) -> bool {
        self.policy.attempts() != Some(1) && self.policy.is_idempotent()
    }

    /// A process that calls the server.
    pub(crate) fn client(&self) -> Client {
        let mut client = Client::new(self.policy);
        if let Some(allowance) = self.budget {
            client = client.budget(allowance.budget());
        }
        if self.is_refunded {
            client = client.budget(Budget::refunding(self.tokens()));
        }
        if self.breaker {
            client = client.breaker(Breaker::count_window(20));
        }
        client
    }

    /// The same in each service of a chain: by itself, and with the retry protocol.
    pub(crate) fn in_a_chain(self) -> (Self, Self) {
        let alone = Self {
            name: "each by itself",
            ..self.clone()
        };
        let together = Self {
            name: "with the protocol",
            keeps_protocol: true,
            ..self
        };
        (alone, together)
    }

    /// A service of these processes.
    pub(crate) const fn service<'c>(&self, clients: &'c [Client]) -> Service<'c> {
        Service {
            clients,
            keeps_protocol: self.keeps_protocol,
        }
    }

    /// How many tokens that budget has.
    pub(crate) fn tokens(&self) -> u32 {
        self.policy
            .attempts()
            .map_or(TOKENS, RefundBudget::capacity)
    }

    /// The limit of its attempts, where that of the scene is `timeout`.
    pub(crate) fn limit(&self, timeout: Duration) -> Duration {
        let Values {
            deadline,
            timeout: limit,
            ..
        } = *self.policy.values();
        let limit = limit.unwrap_or(timeout);
        deadline.map_or(limit, |deadline| deadline.min(limit))
    }
}
