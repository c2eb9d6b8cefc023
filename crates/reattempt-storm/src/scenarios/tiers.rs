//! Services one above the other, each of which retries the one below; the lowest calls a server that always fails.

use std::time::Duration;

use retry_runtime::{Nested, Policy};

use crate::client::Client;
use crate::figures::{Expected, Figure};
use crate::load::run_chain;
use crate::scene::{Arrivals, Kind, Scene, Service, Trigger};
use crate::server::Stale;

/// Attempts that the server gets from one call at the top, with `attempts` in each of the tiers: one for each of `protocol`,
/// which says whether it keeps the retry protocol.
pub fn attempts_below(protocol: &[bool], attempts: u32, nested: Nested) -> u32 {
    let policy = Policy::new()
        .max(attempts)
        .base(Duration::from_millis(10))
        .nested(nested);
    let client = [Client::new(policy.without_budget())];
    let tier = |&keeps_protocol: &bool| Service {
        clients: &client,
        keeps_protocol,
    };
    let chain: Vec<Service<'_>> = protocol.iter().map(tier).collect();
    let scene = Scene {
        // The first call, and no other.
        calls: 0.0,
        arrivals: Arrivals::Regular,
        capacity: 1.0,
        stale: Stale::Served,
        timeout: Duration::from_secs(3600),
        trigger: Trigger::between(Kind::Errors, 0..7200),
        end: Duration::from_secs(3600),
        seed: 1,
    };
    let attempts = run_chain(&scene, &chain).total(|second| second.attempts);
    u32::try_from(attempts).unwrap_or(u32::MAX)
}

/// Q5: `n + (d-1)(n-1)` attempts at the bottom of `d` tiers of `n` attempts where nested retries collapse, `n^d` where
/// they multiply.
pub fn figures() -> Vec<Figure> {
    let mut figures = Vec::new();
    for tiers in 2..=5_u32 {
        for attempts in 2..=5_u32 {
            let retries = attempts.saturating_sub(1);
            let collapsed = tiers
                .saturating_sub(1)
                .saturating_mul(retries)
                .saturating_add(attempts);
            for (nested, word, value) in [
                (Nested::Collapse, "collapse", collapsed),
                (Nested::Multiply, "multiply", attempts.saturating_pow(tiers)),
            ] {
                let case = format!("{tiers} tiers of {attempts} attempts that {word}: attempts");
                let protocol = (0..tiers).map(|_| true).collect::<Vec<_>>();
                let bottom = attempts_below(&protocol, attempts, nested);
                figures.push(exactly(case, value, bottom));
            }
        }
    }
    figures
}

/// Q5, too: five services of five attempts in processes of their own. One that does not know the protocol multiplies what
/// is below it.
pub fn processes() -> Vec<Figure> {
    let of = |protocol: &[bool], words: &str, value| {
        let case = format!("5 services of 5 attempts, {words}: attempts");
        exactly(case, value, attempts_below(protocol, 5, Nested::Collapse))
    };
    let mut figures = vec![
        of(&[true; 5], "with the protocol", 21),
        of(&[false; 5], "without it", 3125),
    ];
    for (deaf, value) in (0..5_usize).zip([85, 325, 405, 325, 85]) {
        let mut protocol = [true; 5];
        if let Some(service) = protocol.get_mut(deaf) {
            *service = false;
        }
        let words = format!("all but number {}", deaf.saturating_add(1));
        figures.push(of(&protocol, &words, value));
    }
    figures
}

fn exactly(case: String, value: u32, came_out: u32) -> Figure {
    let expected = Expected::Near {
        value: value.into(),
        share: 0.0,
    };
    Figure::new("Q5", case, expected, came_out.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::assert_met;

    #[test]
    fn q5_tiers_do_not_multiply() {
        assert_eq!(attempts_below(&[true; 3], 3, Nested::Collapse), 7);
        assert_eq!(attempts_below(&[true; 3], 3, Nested::Multiply), 27);
        assert_met(&figures());
    }

    #[test]
    fn processes_do_not_multiply() {
        assert_met(&processes());
    }
}
