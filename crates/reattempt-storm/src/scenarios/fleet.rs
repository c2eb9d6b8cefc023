//! One budget for all processes that call a service: the service tells each how many there are, as long as it answers.
//!
//! All is well for a second, so that every process has had an answer. Then every attempt fails: the service refuses and goes
//! on telling, or it is dead and tells nothing.

use std::time::Duration;

use retry_runtime::timer::Clock as _;
use retry_runtime::{Budget, Policy, Verdict};

use crate::client::Client;
use crate::clock::Virtual;
use crate::figures::{Expected, Figure};

const PROCESSES: u32 = 100;

/// Calls of the outage: 20 seconds of 100 a second.
const CALLS: u32 = 2_000;

type Made = fn() -> Budget;

/// All of them have 70 tokens, and nothing that comes with the time.
const BUDGETS: [(&str, Made); 3] = [
    ("tokens", || Budget::tokens(70).cost(1).timeout_cost(1)),
    ("refunding", || Budget::refunding(70)),
    ("per_success", || {
        Budget::per_success(0.1).initial(70).floor(0.0)
    }),
];

/// What processes know of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Nothing, as without the protocol.
    Never,
    /// How many they were when all was well.
    Before,
    /// The same, and again with each failure.
    Always,
    /// Half of them nothing: the service cannot be reached by them, and never could.
    Half,
}

/// The retries that so many processes make in the outage.
fn retries(processes: u32, budget: Made, told: Told, seed: u64) -> u32 {
    let clock = Virtual::new(seed);
    let policy = Policy::new().base(Duration::from_millis(10));
    let budgets: Vec<Budget> = (0..processes).map(|_| budget()).collect();
    for (number, budget) in (0_u32..).zip(&budgets) {
        if told != Told::Never && (told != Told::Half || number.is_multiple_of(2)) {
            budget.divide_among(processes);
        }
    }
    let tell = |budget: &Budget| {
        if told == Told::Always {
            budget.divide_among(processes);
        }
    };
    let clients: Vec<Client> = budgets
        .into_iter()
        .map(|budget| Client::new(policy.without_budget()).budget(budget))
        .collect();
    clock.sleep(Duration::from_secs(1));
    let mut retries = 0_u32;
    for _ in 0..CALLS {
        clock.sleep(clock.exponential(Duration::from_millis(10)));
        let drawn = clock.random().checked_rem(processes.into());
        let drawn = drawn.and_then(|drawn| usize::try_from(drawn).ok());
        let Some(client) = drawn.and_then(|drawn| clients.get(drawn)) else {
            continue;
        };
        let (attempts, _) = client.run(&clock, || {
            client.shared_budget().into_iter().for_each(tell);
            Err(Verdict::Transient)
        });
        retries = retries.saturating_add(attempts.saturating_sub(1));
    }
    retries
}

/// F1: retries of a hundred processes for each that one process would make with the same budget.
pub fn figures() -> Vec<Figure> {
    let mut figures = Vec::new();
    for (name, budget) in BUDGETS {
        let one = f64::from(retries(1, budget, Told::Never, 1));
        for (told, words, expected) in [
            (Told::Always, "that refuses", Expected::AtMost(1.2)),
            (Told::Before, "that is dead", Expected::AtMost(1.2)),
            (Told::Half, "half of them reach", Expected::AtMost(100.0)),
            (Told::Never, "that tells nothing", Expected::AtLeast(5.0)),
        ] {
            let case = format!("{name} of 100 processes, a service {words}: of one");
            let all = f64::from(retries(PROCESSES, budget, told, 1));
            figures.push(Figure::new("F1", case, expected, all / one));
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::assert_met;

    #[test]
    fn f1_processes_share_a_budget() {
        assert_met(&figures());
    }

    #[test]
    fn few_seeds_make_many_more_retries() {
        for (name, budget) in BUDGETS {
            let one = retries(1, budget, Told::Never, 1);
            let fits = |seed: &u64| {
                f64::from(retries(PROCESSES, budget, Told::Before, *seed)) <= 1.2 * f64::from(one)
            };
            let fitting = (0..100).filter(fits).count();
            assert!(fitting >= 95, "{name}: {fitting}");
        }
    }
}
