//! Services one above the other, each of which retries the one below; the lowest always fails.

use std::time::Duration;

use retry_runtime::private::AttemptResult;
use retry_runtime::{Nested, Policy, Verdict};

use crate::client::Client;
use crate::clock::Virtual;
use crate::figures::{Expected, Figure};

/// Attempts that the lowest of `tiers` gets from one call at the top, with `attempts` in each tier.
pub fn attempts_below(tiers: u32, attempts: u32, nested: Nested) -> u32 {
    let policy = Policy::new()
        .max(attempts)
        .base(Duration::from_millis(10))
        .nested(nested);
    let client = Client::new(policy.without_budget());
    call(&client, &Virtual::new(1), tiers, false)
}

/// The attempts at the bottom that one call of this tier comes to.
fn call(client: &Client, clock: &Virtual, tiers: u32, in_a_retry: bool) -> u32 {
    let mut request = client.call(clock).nested(in_a_retry);
    let mut bottom = 0_u32;
    let mut is_retry = false;
    while request.attempt(clock) {
        let below = match tiers.checked_sub(1) {
            None | Some(0) => 1,
            // What is above a tier above is above this one, too.
            Some(below) => call(client, clock, below, in_a_retry || is_retry),
        };
        bottom = bottom.saturating_add(below);
        let Some(delay) = request.failed(AttemptResult::Failed(Verdict::Transient), clock) else {
            break;
        };
        clock.sleep(delay);
        is_retry = true;
    }
    bottom
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
                let expected = Expected::Near {
                    value: value.into(),
                    share: 0.0,
                };
                let bottom = attempts_below(tiers, attempts, nested);
                figures.push(Figure::new("Q5", case, expected, bottom.into()));
            }
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::assert_met;

    #[test]
    fn q5_tiers_do_not_multiply() {
        assert_eq!(attempts_below(3, 3, Nested::Collapse), 7);
        assert_eq!(attempts_below(3, 3, Nested::Multiply), 27);
        assert_met(&figures());
    }
}
