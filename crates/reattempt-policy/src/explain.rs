//! A policy in words.

use core::fmt;

use crate::backoff::Backoff;
use crate::duration::Human;
use crate::jitter::Jitter;
use crate::values::Values;

/// A policy in words; made by `Policy::explain`.
#[derive(Debug, Clone, Copy)]
pub struct Explanation<'a>(&'a Values);

/// Delays that are named one by one.
const NAMED: u32 = 6;

impl Values {
    /// Returns what they mean, in words.
    pub const fn explain(&self) -> Explanation<'_> {
        Explanation(self)
    }
}

impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policy = self.0;
        match policy.attempts() {
            Some(1) => f.write_str("1 attempt, no retry")?,
            Some(max) => write!(f, "Up to {max} attempts")?,
            None if policy.decided => f.write_str("Attempts")?,
            None => f.write_str("As many attempts as it takes")?,
        }
        if policy.attempts() != Some(1) {
            self.delays(f)?;
        }
        if let Some(healthy) = policy.reset_after {
            write!(
                f,
                "; after an attempt of {} or more the count starts anew",
                Human(healthy)
            )?;
        }
        if policy.is_budgeted() {
            f.write_str("; retries while the budget lasts")?;
        }
        if let Some(timeout) = policy.timeout {
            write!(f, "; {} for each attempt", Human(timeout))?;
        }
        if let Some(deadline) = policy.deadline {
            write!(
                f,
                "; {} for all attempts and delays together",
                Human(deadline)
            )?;
        }
        f.write_str(".")
    }
}

impl Explanation<'_> {
    fn delays(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policy = self.0;
        match policy.backoff {
            _ if policy.decided && policy.attempts().is_none() => {
                return f.write_str(" and delays as its strategy says");
            }
            _ if policy.decided => return f.write_str("; delays as its strategy says"),
            Backoff::None => return f.write_str(" without a delay"),
            Backoff::Custom(_) => {
                write!(
                    f,
                    "; delays by a function, at most {} each",
                    Human(policy.cap.duration())
                )?;
            }
            Backoff::Decorrelated => {
                let (least, _) = policy.delay_bounds(u32::from(policy.fast_first));
                write!(
                    f,
                    "; delays of {} to three times the one before, at most {} each",
                    Human(least),
                    Human(policy.cap.duration())
                )?;
            }
            _ => self.listed(f)?,
        }
        match policy.worst_case().total_delay() {
            Some(waiting) if !waiting.is_zero() => {
                write!(f, "; at most {} of waiting", Human(waiting))
            }
            _ => Ok(()),
        }
    }

    fn listed(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policy = self.0;
        let retries = policy
            .attempts()
            .map_or(u32::MAX, |max| max.saturating_sub(1));
        let (one, about) = match policy.spread() {
            Jitter::None => (retries == 1, ""),
            Jitter::Ratio(_) => (retries == 1, "about "),
            Jitter::Full | Jitter::Equal => (retries == 1, "up to "),
        };
        write!(f, "; {} of {about}", if one { "a delay" } else { "delays" })?;
        for retry in 0..retries.min(NAMED) {
            let separate = if retry == 0 { "" } else { ", " };
            write!(f, "{separate}{}", Human(policy.delay(retry)))?;
        }
        if retries > NAMED {
            write!(
                f,
                ", ... {}",
                Human(policy.delay(retries.saturating_sub(1)))
            )?;
        }
        if let Backoff::ExpAboveFirst = policy.backoff {
            write!(
                f,
                ", of which what is above {}",
                Human(policy.first.duration())
            )?;
        }
        let each = if one { "" } else { "each " };
        match policy.spread() {
            Jitter::None => Ok(()),
            Jitter::Full => write!(f, ", {each}drawn from 0 to that"),
            Jitter::Equal => write!(f, ", {each}drawn from half of that to that"),
            Jitter::Ratio(ratio) => write!(f, ", {each}+/-{} %", Percent(ratio)),
        }
    }
}

struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(crate::text::Text::new().float(self.0 * 100.0).as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_delays_are_named_as_there_are() {
        const P: Values = Values::new().jitter(Jitter::None);
        for (policy, expected) in [
            (P.max(1), "1 attempt, no retry."),
            (
                P.max(2),
                "Up to 2 attempts; a delay of 100 ms; at most 100 ms of waiting.",
            ),
            (
                P.max(2).jitter(Jitter::Full),
                "Up to 2 attempts; a delay of up to 100 ms, drawn from 0 to that; at most 100 ms of waiting.",
            ),
            (
                P.max(3).jitter(Jitter::Equal),
                "Up to 3 attempts; delays of up to 100 ms, 200 ms, each drawn from half of that to that; at most 300 ms of waiting.",
            ),
            (
                P.max(3).jitter(Jitter::Ratio(0.25)),
                "Up to 3 attempts; delays of about 100 ms, 200 ms, each +/-25 %; at most 375 ms of waiting.",
            ),
            (
                P.max(7),
                "Up to 7 attempts; delays of 100 ms, 200 ms, 400 ms, 800 ms, 1.6 s, 3.2 s; at most 6.3 s of waiting.",
            ),
            (
                P.max(8),
                "Up to 8 attempts; delays of 100 ms, 200 ms, 400 ms, 800 ms, 1.6 s, 3.2 s, ... 6.4 s; at most 12.7 s of waiting.",
            ),
            (
                P.max(9).backoff(Backoff::Fixed),
                "Up to 9 attempts; delays of 100 ms, 100 ms, 100 ms, 100 ms, 100 ms, 100 ms, ... 100 ms; at most 800 ms of waiting.",
            ),
            (
                P.max(3).backoff(Backoff::None),
                "Up to 3 attempts without a delay.",
            ),
        ] {
            assert_eq!(policy.explain().to_string(), expected);
        }
    }
}
