//! What is written is what is read; and nothing that stands in a file is more than a fault.

use std::fmt::Write as _;
use std::time::Duration;

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use reattempt::config::Config;
use reattempt::policy::{Nested, Priority};
use reattempt::{Backoff, Jitter, Policy};

/// A method of the builder that takes a duration.
type Set = fn(Policy, Duration) -> Policy;

/// Few keys at a time: of many, some would nearly always be refused.
fn of<T: Strategy>(value: T) -> impl Strategy<Value = Option<T::Value>> {
    weighted(0.2, value)
}

/// A layer, and the same in TOML.
pub(crate) fn layer() -> impl Strategy<Value = (Policy, String)> {
    let time = || of(1_u64..80_000_000_000_000);
    let numbers = (
        of(1_u32..40),
        of(1.0001_f64..9.0),
        of(0_usize..4),
        of(0_usize..6),
        of(0.0_f64..=1.0),
    );
    let times = (time(), time(), time(), time(), time(), time(), time());
    let flag = || of(any::<bool>());
    let flags = (flag(), flag(), flag(), flag());
    (numbers, times, flags).prop_map(|(numbers, times, flags)| {
        let (mut policy, mut text) = (Policy::new(), String::new());
        let (max, factor, jitter, shape, ratio) = numbers;
        let mut write =
            |key: &str, value: &dyn std::fmt::Display| writeln!(text, "{key} = {value}").unwrap();
        if let Some(max) = max {
            policy = policy.max(max);
            write("max", &max);
        }
        if let Some(factor) = factor {
            policy = policy.factor(factor);
            write("factor", &format!("{factor:?}"));
        }
        if let Some(jitter) = jitter {
            let ratio = ratio.unwrap_or(0.5);
            let (jitter, text) = match jitter {
                0 => (Jitter::None, "\"none\"".to_owned()),
                1 => (Jitter::Full, "\"full\"".to_owned()),
                2 => (Jitter::Equal, "\"equal\"".to_owned()),
                _ => (Jitter::Ratio(ratio), format!("{ratio:?}")),
            };
            policy = policy.jitter(jitter);
            write("jitter", &text);
        }
        if let Some(shape) = shape {
            let shapes = [
                Backoff::None,
                Backoff::Fixed,
                Backoff::Linear,
                Backoff::Exp,
                Backoff::Fibonacci,
                Backoff::Decorrelated,
            ];
            policy = policy.backoff(shapes[shape]);
            write("backoff", &format!("\"{}\"", shapes[shape].as_str()));
        }
        let (base, first, cap, deadline, timeout, max_retry_after, reset_after) = times;
        let setters: [(&str, Option<u64>, Set); 7] = [
            ("base", base, Policy::base),
            ("first", first, Policy::first),
            ("cap", cap, Policy::cap),
            ("deadline", deadline, Policy::deadline),
            ("timeout", timeout, Policy::timeout),
            ("max_retry_after", max_retry_after, Policy::max_retry_after),
            ("reset_after", reset_after, Policy::reset_after),
        ];
        for (key, nanos, set) in setters {
            if let Some(nanos) = nanos {
                policy = set(policy, Duration::from_nanos(nanos));
                write(
                    key,
                    &format!("\"{}s {}ns\"", nanos / 1_000_000_000, nanos % 1_000_000_000),
                );
            }
        }
        let (idempotent, fast_first, nested, low) = flags;
        if let Some(idempotent) = idempotent {
            policy = policy.idempotent(idempotent);
            write("idempotent", &idempotent);
        }
        if let Some(fast_first) = fast_first {
            policy = policy.fast_first(fast_first);
            write("fast_first", &fast_first);
        }
        if let Some(multiply) = nested {
            let (nested, word) = if multiply {
                (Nested::Multiply, "multiply")
            } else {
                (Nested::Collapse, "collapse")
            };
            policy = policy.nested(nested);
            write("nested", &format!("\"{word}\""));
        }
        if let Some(is_low) = low {
            let (priority, word) = if is_low {
                (Priority::Low, "low")
            } else {
                (Priority::Normal, "normal")
            };
            policy = policy.priority(priority);
            write("priority", &format!("\"{word}\""));
        }
        (policy, text)
    })
}

const GOOD: &str = r#"# The policies of the shop.
enabled = true
default = "standard"
[policies.standard]
max = 5
base = "100ms"
jitter = 0.2
[policies.storage]
backoff = "fixed"
budget = { per_success = 0.1, ttl = "10s", floor = 1.0, initial = 10 }
[operations."payments.charge"]
policy = "storage"
max = 2
# end
"#;

proptest! {
    /// A layer reads back as it was written, or is refused for what the rules say of it.
    #[test]
    fn reads_what_was_written((policy, text) in layer()) {
        let broken: Vec<_> = Policy::new().merged_with(&policy).violations().map(|v| v.rule().as_str()).collect();
        match Config::from_toml(&format!("[policies.a]\n{text}")) {
            Ok(config) => {
                prop_assert!(broken.is_empty(), "{broken:?}\n{text}");
                prop_assert_eq!(format!("{:?}", config.policy("a").unwrap()), format!("{:?}", policy.of_file()));
            }
            Err(faults) => {
                let mut found: Vec<_> = faults.iter().map(|fault| fault.rule().as_str()).collect();
                let mut broken = broken;
                found.sort_unstable();
                broken.sort_unstable();
                prop_assert_eq!(found, broken, "{}\n{}", text, faults);
            }
        }
    }

    /// An operation over a policy is what the builder would have made of both.
    #[test]
    fn layers_are_keys_in_place_of_keys(below in layer(), above in layer()) {
        let text = format!("[policies.a]\n{}[operations.b]\npolicy = \"a\"\n{}", below.1, above.1);
        if let Ok(config) = Config::from_toml(&text) {
            let both = Policy::new().merged_with(&below.0).merged_with(&above.0);
            let resolved = config.resolve("b", "", &Policy::new());
            prop_assert_eq!(format!("{:?}", resolved.policy), format!("{:?}", both));
            prop_assert!(resolved.policy.violation().is_none());
        }
    }

    #[test]
    fn garbage_is_no_more_than_a_fault(bytes in vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        if let Err(faults) = Config::from_toml(&text) {
            prop_assert!(faults.iter().count() > 0);
            prop_assert!(!faults.to_string().is_empty());
        }
        let _ = Config::from_text("x", GOOD, [(format!("REATTEMPT_{text}__{text}"), text.into_owned())]);
    }

    /// Nearly good files: pieces of one in any order.
    #[test]
    fn nor_is_what_was_shuffled(cuts in vec((0..GOOD.len(), 0..GOOD.len()), 1..6)) {
        let text: String = cuts.iter().filter_map(|(from, to)| GOOD.get(*from..*to)).collect();
        if let Err(faults) = Config::from_toml(&text) {
            prop_assert!(faults.iter().all(|fault| fault.line().is_some()), "{}", faults);
        }
    }
}

/// A file that was cut off anywhere is a fault, a good file, or reported as cut off; never a panic.
#[test]
fn every_truncation() {
    assert!(Config::from_toml(GOOD).is_ok());
    for end in 0..GOOD.len() {
        let text = &GOOD[..end];
        if let Err(faults) = Config::from_toml(text) {
            assert!(faults.iter().count() > 0);
        }
        assert!(Config::is_cut_off(text, Some(GOOD)).is_some(), "{text}");
    }
}
