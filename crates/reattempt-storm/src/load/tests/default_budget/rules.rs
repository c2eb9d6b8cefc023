//! Who takes part.

use super::*;

/// What limits the retries of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    NoBudget,
    NoRetry,
    /// `budget = 0.1`.
    Tenth,
    Finagle,
    Envoy,
    Aws,
    Default,
}

impl Rule {
    pub(super) const ALL: [Self; 7] = [
        Self::NoBudget,
        Self::NoRetry,
        Self::Finagle,
        Self::Envoy,
        Self::Tenth,
        Self::Aws,
        Self::Default,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::NoBudget => "no budget",
            Self::NoRetry => "no retry",
            Self::Tenth => "budget = 0.1",
            Self::Finagle => "Finagle",
            Self::Envoy => "Envoy",
            Self::Aws => "AWS",
            Self::Default => "the default",
        }
    }

    /// Processes that make at most `max` attempts, each under a rule of its own.
    pub(super) fn clients(self, max: u32, processes: usize) -> Vec<Client> {
        (0..processes).map(|_| self.client(max)).collect()
    }

    fn client(self, max: u32) -> Client {
        let policy = Policy::new().max(max);
        let free = Client::new(policy.without_budget());
        match self {
            Self::NoBudget => free,
            Self::NoRetry => Client::new(Policy::new().max(1)),
            Self::Tenth => free.budget(Budget::per_success(0.1)),
            // `RetryBudget()`: a fifth of the calls of the last 10 s, and ten a second.
            Self::Finagle => free.budget(Budget::per_request(0.2).floor(10.0).initial(100)),
            Self::Envoy => free.limited_in_flight(),
            // As in aws-sdk-cpp#3832: 500 tokens, of which a retry takes 14, whatever has failed.
            Self::Aws => free.budget(Budget::tokens(500).cost(14).timeout_cost(14)),
            Self::Default => Client::new(policy),
        }
    }
}
