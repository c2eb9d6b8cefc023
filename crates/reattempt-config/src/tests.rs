//! What the outside cannot see: which budget a policy has; and the columns of files with a byte order mark.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use super::Config;
use retry_runtime::Policy;
use retry_runtime::budget::{Budget, FailureClass};

const FILE: &str = r#"
[policies.a]
budget = 0.1
[policies.b]
budget = { per_success = 0.1 }
[policies.c]
budget = { tokens = 100, cost = 2, timeout_cost = 3, throttled_cost = 4 }
[operations.d]
policy = "a"
[operations.e]
policy = "a"
budget = { per_request = 0.1, ttl = "5s", floor = 0.0, initial = 3 }
"#;

fn budget(config: &Config, operation: &str, policy: &str) -> &'static Budget {
    let resolved = config.resolve(operation, policy, &Policy::new());
    resolved.policy.shared_budget().unwrap()
}

#[test]
fn a_reload_finds_the_same_budgets() {
    let (one, two) = (Config::from_toml(FILE), Config::from_toml(FILE));
    let (one, two) = (one.unwrap(), two.unwrap());
    for (operation, policy) in [("", "a"), ("", "b"), ("", "c"), ("d", ""), ("e", "")] {
        let [before, after] = [&one, &two].map(|config| budget(config, operation, policy));
        assert!(std::ptr::eq(before, after), "{operation} {policy}");
    }
    // All under one policy share it; another of the same settings is another.
    assert!(std::ptr::eq(budget(&one, "d", ""), budget(&one, "", "a")));
    assert!(!std::ptr::eq(budget(&one, "", "b"), budget(&one, "", "a")));
    assert!(!std::ptr::eq(budget(&one, "e", ""), budget(&one, "", "a")));
}

#[test]
fn a_changed_setting_makes_another() {
    let one = Config::from_toml(FILE).unwrap();
    let two = Config::from_toml(&FILE.replace("cost = 2", "cost = 3")).unwrap();
    assert!(!std::ptr::eq(budget(&one, "", "c"), budget(&two, "", "c")));
    assert!(std::ptr::eq(budget(&one, "", "a"), budget(&two, "", "a")));
}

#[test]
fn settings_arrive() {
    let config = Config::from_toml(FILE).unwrap();
    let reserve = |operation, policy| budget(&config, operation, policy).balance();
    let eq = |a: f64, b: f64| (a - b).abs() < 1e-6;
    assert!(eq(reserve("", "a"), 10.0));
    assert!(eq(reserve("e", ""), 3.0));
    assert!(eq(reserve("", "c"), 100.0));
    let paid = |class| {
        let budget = budget(&config, "", "c");
        let before = budget.balance();
        let mut account = budget.account();
        assert!(account.withdraw(class));
        account.spend();
        before - budget.balance()
    };
    assert!(eq(paid(FailureClass::Failed), 2.0));
    assert!(eq(paid(FailureClass::TimedOut), 3.0));
    assert!(eq(paid(FailureClass::Throttled), 4.0));
}

#[test]
fn a_byte_order_mark_is_no_column() {
    let faults = Config::from_toml("\u{feff}maxx = 0\n").unwrap_err();
    let fault = faults.iter().next().unwrap();
    assert_eq!((fault.line(), fault.column()), (Some(1), Some(1)));
}
