//! The settings of each kind, and what is said of one that has no business there.

use core::time::Duration;

use super::deposits::Deposits;
use super::{Budget, Kind, Tokens};
use reattempt_policy::{RuleId, Violation};

use reattempt_policy::Text;
use reattempt_policy::rules::budget as rules;

impl Budget {
    /// Sets how long a deposit counts.
    ///
    /// # Units and ranges
    ///
    /// From 1 s to 60 s; in fast traffic some count up to a fifteenth shorter. When it pauses for longer than
    /// that, up to 255 deposits, a 64th of those in a fifteenth, may be dated after the pause.
    ///
    /// # Default
    ///
    /// 10 s.
    ///
    /// # Panics
    ///
    /// Outside this range, and for other budgets than those of deposits; in a `static` that is an error of the compiler.
    #[must_use = "a budget is not changed in place"]
    #[track_caller]
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        obey(rules::ttl(ttl).as_ref());
        self.deposits("ttl").set_ttl(ttl);
        self
    }

    /// Sets the retries per second that are there without any deposit, so that a quiet client can
    /// retry, too.
    ///
    /// They refill the reserve up to [`initial`](Self::initial), or up to one. Deposits are spent first.
    ///
    /// It is a rate of each process, whatever its traffic: where a process would retry less often than this, the
    /// budget refuses none. Many quiet processes together may so retry everything, with as many retries a second as
    /// there are processes. Set it to 0, or to a part of the spare capacity of the service for each process, or let the
    /// processes [share](Self::divide_among) the budget. Other
    /// libraries have ten a second here.
    ///
    /// # Units and ranges
    ///
    /// Finite, from 0.0, which refills nothing.
    ///
    /// # Default
    ///
    /// 1.0.
    ///
    /// # Panics
    ///
    /// Outside this range, and for other budgets than those of deposits; in a `static` that is an error of the compiler.
    #[must_use = "a budget is not changed in place"]
    #[track_caller]
    pub const fn floor(mut self, per_second: f64) -> Self {
        obey(rules::floor(per_second).as_ref());
        self.deposits("floor").set_floor(per_second);
        self
    }

    /// Sets the reserve at the start, in retries.
    ///
    /// # Default
    ///
    /// 10.
    ///
    /// # Panics
    ///
    /// For other budgets than those of deposits; in a `static` that is an error of the compiler.
    #[must_use = "a budget is not changed in place"]
    #[track_caller]
    pub const fn initial(mut self, tokens: u32) -> Self {
        self.deposits("initial").set_initial(tokens);
        self
    }

    /// Sets the tokens that a retry takes.
    ///
    /// # Units and ranges
    ///
    /// From 1 to the capacity.
    ///
    /// # Default
    ///
    /// 5.
    ///
    /// # Panics
    ///
    /// Outside this range, and for other budgets than those of tokens; in a `static` that is an error of the compiler.
    #[must_use = "a budget is not changed in place"]
    #[track_caller]
    pub const fn cost(mut self, tokens: u32) -> Self {
        self.priced("cost", tokens).cost = tokens;
        self
    }

    /// Sets the tokens that a retry takes after a time-out.
    ///
    /// # Units and ranges
    ///
    /// From 1 to the capacity.
    ///
    /// # Default
    ///
    /// 10.
    ///
    /// # Panics
    ///
    /// Outside this range, and for other budgets than those of tokens; in a `static` that is an error of the compiler.
    #[must_use = "a budget is not changed in place"]
    #[track_caller]
    pub const fn timeout_cost(mut self, tokens: u32) -> Self {
        self.priced("timeout_cost", tokens).timeout_cost = tokens;
        self
    }

    /// Sets the tokens that a retry takes after the service said that it is overloaded.
    ///
    /// # Units and ranges
    ///
    /// From 1 to the capacity.
    ///
    /// # Default
    ///
    /// [`cost`](Self::cost).
    ///
    /// # Panics
    ///
    /// Outside this range, and for other budgets than those of tokens; in a `static` that is an error of the compiler.
    #[must_use = "a budget is not changed in place"]
    #[track_caller]
    pub const fn throttled_cost(mut self, tokens: u32) -> Self {
        self.priced("throttled_cost", tokens).throttled_cost = Some(tokens);
        self
    }

    #[track_caller]
    const fn deposits(&mut self, setting: &str) -> &mut Deposits {
        match &mut self.kind {
            Kind::PerSuccess(deposits) | Kind::PerRequest(deposits) => deposits,
            Kind::Tokens(_) | Kind::Grpc(_) | Kind::Refunding(_) => {
                refuse(&Text::new().key(setting).push(
                    " is for budgets of deposits; drop it, or write `Budget::per_success(0.1)`",
                ))
            }
        }
    }

    #[track_caller]
    const fn priced(&mut self, setting: &str, cost: u32) -> &mut Tokens {
        let Kind::Tokens(tokens) = &mut self.kind else {
            refuse(
                &Text::new()
                    .key(setting)
                    .push(" is for budgets of tokens; drop it, or write `Budget::tokens(500)`"),
            )
        };
        let capacity = tokens.count.capacity();
        if cost == 0 || cost > capacity {
            let text = Text::new().key(setting).push(" must be from 1 to the ");
            let text = text
                .number(capacity as u64)
                .push(" tokens that there are, but is ");
            refuse(
                &text
                    .number(cost as u64)
                    .push("; the SDKs of AWS have 5 of 500"),
            )
        }
        tokens
    }
}

#[track_caller]
pub(super) const fn obey(broken: Option<&Violation>) {
    if let Some(refusal) = broken {
        refusal.refuse()
    }
}

#[track_caller]
const fn refuse(text: &Text) -> ! {
    RuleId::R11.refuse(text.as_str())
}
