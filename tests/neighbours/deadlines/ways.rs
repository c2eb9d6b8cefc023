//! Calls that are written in different ways, and what they have in common.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Once;

use reattempt::config::Config;
use reattempt::timer::Clock as _;
use reattempt::{Budget, Policy, deadline, testing};

use super::scenarios::{Deadline, End, Expected, FILE, Scenario, Script, Value};
use crate::clock::{Local, Time, ms, on_tokio};

/// A call under a policy, and how it is written.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) policy: Policy,
    pub(super) call: Call,
}

#[derive(Clone, Copy)]
pub(super) enum Call {
    Async(fn(Rc<Script>) -> Local<End>),
    Blocking(fn(&Script) -> End),
}

impl Way {
    pub(super) fn run(self, scenario: Scenario) -> Expected {
        let script = Rc::new(Script {
            policy: self.policy,
            scenario,
            begun: Cell::new(0),
        });
        Time::set_late(ms(scenario.late));
        let (took, end) = match self.call {
            Call::Async(call) => {
                let call = call(Rc::clone(&script));
                on_tokio(async move {
                    let start = Time.now();
                    let end = deadline::within(ms(20), call).await;
                    (Time.now().since(start), end)
                })
            }
            Call::Blocking(call) => {
                let time = testing::virtual_time();
                let end = deadline::within_blocking(ms(20), || call(&script));
                (time.elapsed(), end)
            }
        };
        let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        (took, script.begun.get(), end)
    }
}

/// Those whose calls have no limit of their own, and those whose calls have one.
pub(super) struct Ways {
    pub(super) without: Vec<Way>,
    pub(super) with: Vec<Way>,
    pub(super) budget: Option<&'static Budget>,
}

impl Ways {
    pub(super) fn all(&self) -> impl Iterator<Item = (&Way, bool)> {
        let without = self.without.iter().map(|way| (way, false));
        without.chain(self.with.iter().map(|way| (way, true)))
    }

    /// Their retries are paid for by this budget, of 100 tokens.
    pub(super) fn paid_by(self, budget: &'static Budget) -> Self {
        let budget = Some(budget);
        Self { budget, ..self }
    }

    /// Every way does what is expected of these scenarios, also when it is called again.
    pub(super) fn check(&self, scenarios: impl IntoIterator<Item = &'static Scenario>) {
        static CONFIG: Once = Once::new();
        CONFIG.call_once(|| Config::from_toml(FILE).unwrap().install().unwrap());
        let mut wrong = Vec::new();
        for scenario in scenarios {
            for (way, is_limited) in self.all() {
                let expected = if is_limited {
                    scenario.is_cut_off
                } else {
                    scenario.endures
                };
                for call in ["first", "second"] {
                    let (found, spent) = self.run(way, scenario);
                    let price = self.price(expected);
                    if !is_same(expected, found) || spent != price {
                        let (scenario, way) = (scenario.name, way.name.replace('\n', " "));
                        wrong.push(format!(
                            "{scenario}: {way}, {call} call: \
                             {found:?} for {spent}, not {expected:?} for {price}"
                        ));
                    }
                }
            }
        }
        let count = wrong.len();
        assert!(count == 0, "{count} calls are wrong:\n{}", wrong.join("\n"));
    }

    /// Returns how a call ended, and how many tokens it has spent.
    pub(super) fn run(&self, way: &Way, scenario: &Scenario) -> (Expected, u32) {
        let Some(budget) = self.budget else {
            return (way.run(*scenario), 0);
        };
        budget.reset();
        let found = way.run(*scenario);
        let spent = (0..=100).find(|spent| f64::from(100 - spent) <= budget.balance());
        (found, spent.unwrap_or(u32::MAX))
    }

    /// Each retry that was made cost a token, and a success brings the last one back.
    pub(super) fn price(&self, (_, begun, end): Expected) -> u32 {
        let kept = if end == Value { 2 } else { 1 };
        self.budget.map_or(0, |_| begun.saturating_sub(kept))
    }
}

/// A plain answer that has an error of the service does not say why the call ended.
pub(super) fn is_same(expected: Expected, found: Expected) -> bool {
    let hides = matches!((expected.2, found.2), (Deadline(_), End::Fault));
    expected == found || hides && (expected.0, expected.1) == (found.0, found.1)
}
