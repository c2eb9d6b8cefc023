//! Budgets of a file. Whoever retries may hold one for as long as the process runs, so each is made once and kept; a
//! reload that changes nothing of it finds the same, with what is left in it.

use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use figment::value::Value;

use super::reader::{Reader, read};
use reattempt_policy::rules::budget as rules;
use reattempt_policy::written::{self as parse, ParseError, Share, Whole, Word};
use retry_runtime::budget::Budget;
use retry_runtime::rules::{RuleId, Violation};

/// What a call brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A share of a retry, as the bits of the number.
    PerSuccess(u64),
    PerRequest(u64),
    Tokens(u32),
}

/// What a budget is made of; what is not given has the default of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Settings {
    pub(super) kind: Kind,
    pub(super) ttl: Option<Duration>,
    /// As the bits of the number.
    pub(super) floor: Option<u64>,
    pub(super) initial: Option<u32>,
    pub(super) cost: Option<u32>,
    pub(super) timeout_cost: Option<u32>,
    pub(super) throttled_cost: Option<u32>,
}

impl Settings {
    pub(super) const fn of(kind: Kind) -> Self {
        Self {
            kind,
            ttl: None,
            floor: None,
            initial: None,
            cost: None,
            timeout_cost: None,
            throttled_cost: None,
        }
    }

    /// A new budget; its settings have been judged.
    fn budget(&self) -> Budget {
        let mut budget = match self.kind {
            Kind::PerSuccess(ratio) => Budget::per_success(f64::from_bits(ratio)),
            Kind::PerRequest(ratio) => Budget::per_request(f64::from_bits(ratio)),
            Kind::Tokens(capacity) => Budget::tokens(capacity),
        };
        if let Some(ttl) = self.ttl {
            budget = budget.ttl(ttl);
        }
        if let Some(floor) = self.floor {
            budget = budget.floor(f64::from_bits(floor));
        }
        if let Some(initial) = self.initial {
            budget = budget.initial(initial);
        }
        if let Some(cost) = self.cost {
            budget = budget.cost(cost);
        }
        if let Some(cost) = self.timeout_cost {
            budget = budget.timeout_cost(cost);
        }
        if let Some(cost) = self.throttled_cost {
            budget = budget.throttled_cost(cost);
        }
        budget
    }

    /// The budget of these settings below `owner`, the path of a policy or an operation.
    pub(super) fn kept(&self, owner: &str) -> &'static Budget {
        static KEPT: OnceLock<Mutex<HashMap<(String, Settings), &'static Budget>>> =
            OnceLock::new();
        let mut kept = KEPT
            .get_or_init(Mutex::default)
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        kept.entry((owner.to_owned(), *self))
            .or_insert_with(|| Box::leak(Box::new(self.budget())))
    }
}

/// What stands behind the key `budget`.
pub(super) enum Written {
    Budget(Settings),
    Nothing,
}

impl Reader<'_> {
    /// A share, a table of settings, or `"none"`.
    pub(super) fn budget(&mut self, value: &Value) -> Option<Written> {
        let Value::Dict(..) = value else {
            return Some(match self.take(value)? {
                Share::Of(ratio) => {
                    Written::Budget(Settings::of(Kind::PerSuccess(ratio.to_bits())))
                }
                Share::None => Written::Nothing,
            });
        };
        let example = "budget = { per_success = 0.1 }";
        let table = self.table(value, example)?;
        let known = self.faults.len();
        let mut kind = None;
        for (key, value) in table {
            self.within(key, |this| {
                let read = match &**key {
                    "per_success" => this.share(value).map(Kind::PerSuccess),
                    "per_request" => this.share(value).map(Kind::PerRequest),
                    "tokens" => this.count(value, 1).map(Kind::Tokens),
                    _ => return,
                };
                match &kind {
                    None => kind = Some((key, read)),
                    Some((other, _)) => {
                        let message = format!(
                            "`{key}` and `{other}` are two kinds of budgets; keep one of them"
                        );
                        this.fault(value.tag(), RuleId::R11, message);
                    }
                }
            });
        }
        let Some((_, kind)) = kind else {
            let message = "a budget says what calls bring; write `per_success = 0.1`, `per_request = 0.1` or `tokens = 500`";
            self.fault(value.tag(), RuleId::R11, message);
            return None;
        };
        let mut settings = Settings::of(kind?);
        for (key, value) in table {
            self.within(key, |this| this.setting(key, value, &mut settings));
        }
        (self.faults.len() == known).then_some(Written::Budget(settings))
    }

    fn setting(&mut self, key: &str, value: &Value, settings: &mut Settings) {
        let capacity = match settings.kind {
            Kind::Tokens(capacity) => Some(capacity),
            Kind::PerSuccess(_) | Kind::PerRequest(_) => None,
        };
        match (key, capacity) {
            ("per_success" | "per_request" | "tokens", _) => {}
            ("ttl", None) => settings.ttl = self.judged(value, |ttl: &Duration| rules::ttl(*ttl)),
            ("floor", None) => {
                let floor = self.judged(value, |floor: &f64| rules::floor(*floor));
                settings.floor = floor.map(f64::to_bits);
            }
            ("initial", None) => settings.initial = self.count(value, 0),
            ("ttl" | "floor" | "initial", Some(_)) => {
                let message = format!(
                    "`{key}` is for budgets of deposits; drop it, or write `per_success = 0.1`"
                );
                self.fault(value.tag(), RuleId::R11, message);
            }
            ("cost", Some(capacity)) => settings.cost = self.cost(value, capacity),
            ("timeout_cost", Some(capacity)) => settings.timeout_cost = self.cost(value, capacity),
            ("throttled_cost", Some(capacity)) => {
                settings.throttled_cost = self.cost(value, capacity);
            }
            ("cost" | "timeout_cost" | "throttled_cost", None) => {
                let message =
                    format!("`{key}` is for budgets of tokens; drop it, or write `tokens = 500`");
                self.fault(value.tag(), RuleId::R11, message);
            }
            _ => self.fault(value.tag(), RuleId::R15, parse::unknown(key, None, BUDGET)),
        }
    }

    /// The bits of a share.
    fn share(&mut self, value: &Value) -> Option<u64> {
        self.judged(value, |ratio: &f64| rules::ratio(*ratio))
            .map(f64::to_bits)
    }

    /// A value that a rule about budgets accepts.
    fn judged<T: Word>(
        &mut self,
        value: &Value,
        rule: impl Fn(&T) -> Option<Violation>,
    ) -> Option<T> {
        let read = read::<T>(value).and_then(|read| match rule(&read) {
            Some(refusal) => Err(ParseError::new(refusal.rule(), refusal.message())),
            None => Ok(read),
        });
        self.sound(value.tag(), read)
    }

    /// A whole number of at least `least`.
    fn count(&mut self, value: &Value, least: u32) -> Option<u32> {
        let key = self.path.last().cloned().unwrap_or_default();
        let Count(count) = self.take(value)?;
        match u32::try_from(count) {
            Ok(count) if count >= least => Some(count),
            _ => {
                let example = if key == "tokens" { 500 } else { 10 };
                let message = format!(
                    "`{key}` must be from {least} to {}, but is {count}; write `{key} = {example}`",
                    u32::MAX
                );
                self.fault(value.tag(), RuleId::R11, message);
                None
            }
        }
    }

    /// What a retry costs: not more than there is.
    fn cost(&mut self, value: &Value, capacity: u32) -> Option<u32> {
        let cost = self.count(value, 1)?;
        if cost <= capacity {
            return Some(cost);
        }
        let key = self.path.last().cloned().unwrap_or_default();
        let message = format!(
            "`{key}` of {cost} is above the {capacity} tokens that there are, so there would never be a retry; lower it, or raise `tokens`"
        );
        self.fault(value.tag(), RuleId::R11, message);
        None
    }
}

/// The settings of a budget.
pub(super) const BUDGET: &[&str] = &[
    "per_success",
    "per_request",
    "tokens",
    "ttl",
    "floor",
    "initial",
    "cost",
    "timeout_cost",
    "throttled_cost",
];

/// A whole number.
struct Count(u128);

impl Word for Count {
    const EXAMPLE: &'static str = "a whole number; write `500`";

    fn from_whole(number: Whole<'_>) -> Option<Result<Self, ParseError>> {
        number.digits.parse().ok().map(|count| Ok(Self(count)))
    }
}
