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

/// Another provider than TOML may have one of a single letter.
#[test]
fn the_name_of_a_policy_is_a_text() {
    use figment::{Figment, providers::Serialized};

    let figment = Figment::from(Serialized::default("default", 'a'));
    let figment = figment.merge(Serialized::default("policies.a.max", 2));
    let config = super::read::config(&figment, Vec::new(), Vec::new()).unwrap();
    assert_eq!(config.default(), Some("a"));
    for (text, fault) in [
        (
            "[default]\nmax = 3\n",
            "`default` is the name of a policy; ",
        ),
        (
            "default = 3\n",
            "expected the name of a policy; write `default = \"standard\"`",
        ),
        (
            "[operations.a]\npolicy = { max = 3 }\n",
            "expected the name of a policy; write `policy = \"standard\"`",
        ),
    ] {
        let faults = Config::from_toml(text).unwrap_err();
        let message = faults.iter().next().unwrap().message();
        assert!(message.starts_with(fault), "{message}");
    }
}

#[test]
fn a_configuration_says_what_it_has() {
    let empty = Config::empty();
    assert!(empty.is_enabled() && empty.default().is_none());
    assert!(empty.policies().next().is_none() && empty.operations().next().is_none());
    let text = "enabled = false\ndefault = \"b\"\n[policies.a]\nmax = 2\n[policies.b]\nmax = 3\n\
        [operations.x]\nenabled = false\n[operations.y]\npolicy = \"a\"\n";
    let config = Config::from_toml(text).unwrap();
    assert!(!config.is_enabled());
    assert_eq!(config.default(), Some("b"));
    let policies = config
        .policies()
        .map(|(name, policy)| (name, policy.attempts()));
    assert!(policies.eq([("a", Some(2)), ("b", Some(3))]));
    assert!(config.operations().eq(["x", "y"]));
    let max = |name| config.policy(name).and_then(|policy| policy.attempts());
    let all = ["a", "b", "default", "c"].map(max);
    assert_eq!(all, [Some(2), Some(3), Some(3), None]);
    let on = Config::from_toml(&text.replacen("enabled = false", "enabled = true", 1)).unwrap();
    for (operation, named, label, max, enabled) in [
        ("x", "a", "a", Some(2), false),
        ("y", "b", "a", Some(2), true),
        ("z", "default", "b", Some(3), true),
        ("z", "c", "c", Some(7), true),
    ] {
        let inline = Policy::new().max(7);
        let effective = on.resolve(operation, named, &inline);
        assert_eq!(
            (effective.label, effective.policy.attempts()),
            (label, max),
            "{operation}"
        );
        assert_eq!(effective.enabled, enabled, "{operation}");
        assert!(!config.resolve(operation, named, &inline).enabled);
    }
}

#[test]
fn retries_are_off_while_the_switch_is() {
    use super::{are_retries_on, resume_retries, stop_retries};

    assert!(are_retries_on());
    stop_retries();
    assert!(!are_retries_on());
    resume_retries();
    assert!(are_retries_on());
}

/// What is wrong with a policy of these keys.
fn wrong(keys: &str) -> String {
    let config = Config::from_toml(&format!("[policies.a]\n{keys}\n"));
    config.map_or_else(
        |faults| faults.iter().next().unwrap().message().to_owned(),
        |_| String::new(),
    )
}

/// Both sides of each bound, and what does not go together.
#[test]
fn the_settings_of_a_budget_have_bounds() {
    for (budget, expected) in [
        ("tokens = 1", ""),
        ("tokens = 4294967295", ""),
        (
            "tokens = 0",
            "`tokens` must be from 1 to 4294967295, but is 0; write `tokens = 500`",
        ),
        (
            "tokens = 4294967296",
            "`tokens` must be from 1 to 4294967295, but is 4294967296; ",
        ),
        ("tokens = 5, cost = 5", ""),
        (
            "tokens = 5, cost = 6",
            "`cost` of 6 is above the 5 tokens that there are",
        ),
        (
            "tokens = 5, cost = 0",
            "`cost` must be from 1 to 4294967295, but is 0; write `cost = 10`",
        ),
        (
            "tokens = 5, timeout_cost = 6",
            "`timeout_cost` of 6 is above",
        ),
        (
            "tokens = 5, throttled_cost = 6",
            "`throttled_cost` of 6 is above",
        ),
        ("tokens = 5, ttl = '5s'", "`ttl` is for budgets of deposits"),
        (
            "tokens = 5, floor = 1.0",
            "`floor` is for budgets of deposits",
        ),
        (
            "tokens = 5, initial = 1",
            "`initial` is for budgets of deposits",
        ),
        ("per_request = 0.1, initial = 0", ""),
        (
            "per_request = 0.1, cost = 1",
            "`cost` is for budgets of tokens",
        ),
        (
            "per_success = 0.1, timeout_cost = 1",
            "`timeout_cost` is for budgets of tokens",
        ),
        (
            "per_success = 0.1, throttled_cost = 1",
            "`throttled_cost` is for budgets of tokens",
        ),
        (
            "per_success = 0.1, tokens = 5",
            "`tokens` and `per_success` are two kinds of budgets",
        ),
        ("ttl = '5s'", "a budget says what calls bring"),
        ("tokens = 5, tokns = 5", "unknown key `tokns`"),
    ] {
        let message = wrong(&format!("budget = {{ {budget} }}"));
        assert!(message.starts_with(expected), "{budget}: {message}");
        assert_eq!(
            message.is_empty(),
            expected.is_empty(),
            "{budget}: {message}"
        );
    }
}

/// Who has written both values need not be told of defaults.
#[test]
fn a_rule_that_is_broken_names_a_default_only_where_it_counts() {
    let message = wrong("base = '1h'\ncap = '1s'");
    assert!(
        message.contains("`cap`") && !message.contains("default"),
        "{message}"
    );
    assert!(wrong("base = '1h'").contains("20s by default"));
}
