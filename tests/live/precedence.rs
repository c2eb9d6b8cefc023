//! What holds: the defaults, the keys in the code, the policy of the file, the operation of the file.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::observe::{self, CallInfo, Event};
use reattempt::{GiveUpReason, config, retry};

use crate::support::{File, install, ms, sync_turn};

/// Delays as they were decided, and the attempts allowed.
type Seen = RefCell<Vec<(Option<u32>, Duration)>>;

#[retry(policy = "precedence", name = "precedence.call", max = 3, base = "10ms", jitter = "none", on(_), on_retry = |retry| seen.borrow_mut().push((retry.max(), retry.delay())))]
fn call(seen: &Seen) -> Result<(), String> {
    Err("no".to_owned())
}

fn seen() -> Vec<(Option<u32>, Duration)> {
    let seen = Seen::default();
    let _ = call(&seen);
    seen.into_inner()
}

#[test]
fn each_layer_overrides_what_is_below() {
    let (_turn, _time) = sync_turn();
    assert_eq!(seen(), [(Some(3), ms(10)), (Some(3), ms(20))]);
    install("[policies.precedence]\nmax = 2\n");
    assert_eq!(seen(), [(Some(2), ms(10))]);
    install(
        "[policies.precedence]\nmax = 2\nbase = \"1s\"\n[operations.\"precedence.call\"]\nmax = 3\n",
    );
    let second = Duration::from_secs(1);
    assert_eq!(seen(), [(Some(3), second), (Some(3), second * 2)]);
    // Another policy for the operation.
    install(
        "[policies.precedence]\nmax = 9\n[policies.other]\nmax = 2\n[operations.\"precedence.call\"]\npolicy = \"other\"\n",
    );
    assert_eq!(seen(), [(Some(2), ms(10))]);
    install("[operations.\"precedence.call\"]\nenabled = false\n");
    assert_eq!(seen(), []);
    install("enabled = false\n");
    assert_eq!(seen(), []);
    assert!(!config::are_retries_on());
    install("");
    assert_eq!(seen(), [(Some(3), ms(10)), (Some(3), ms(20))]);
}

/// Telemetry names the policy that the file gives to an operation.
#[test]
fn events_name_the_policy_of_the_file() {
    let (_turn, _time) = sync_turn();
    let named = || {
        let names = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&names);
        let observer = move |event: &Event<'_>| {
            kept.lock()
                .unwrap()
                .extend(event.facts().map(CallInfo::policy));
        };
        observe::scope_blocking(Arc::new(observer), seen);
        let mut names = Arc::into_inner(names).unwrap().into_inner().unwrap();
        names.dedup();
        names
    };
    assert_eq!(named(), ["precedence"]);
    install("[policies.precedence]\nmax = 2\n");
    assert_eq!(named(), ["precedence"]);
    install("[policies.other]\nmax = 2\n[operations.\"precedence.call\"]\npolicy = \"other\"\n");
    assert_eq!(named(), ["other"]);
    install("");
    assert_eq!(named(), ["precedence"]);
}

#[test]
fn a_snapshot_by_name() {
    let (_turn, _time) = sync_turn();
    assert!(config::policy("precedence").is_none());
    install("[policies.precedence]\nmax = 7\n");
    let policy = config::policy("precedence").unwrap();
    assert_eq!(policy.attempts(), Some(7));
}

/// `base` of the code above `cap` of the file: together they break a rule.
#[retry(policy = "broken", max = 3, base = "5s", on(_))]
fn above(calls: &RefCell<u32>) -> Result<(), String> {
    *calls.borrow_mut() += 1;
    Err("no".to_owned())
}

#[test]
fn what_breaks_a_rule_together_with_the_code_is_refused() {
    let (_turn, _time) = sync_turn();
    let calls = RefCell::new(0);
    // From now on it is known.
    let _ = above(&calls);
    let file = File::new("[policies.broken]\nmax = 2\n");
    config::load(file.path()).unwrap();
    file.write("[policies.broken]\nmax = 2\ncap = \"1s\"\n");
    let faults = config::reload().unwrap_err();
    // `base` of the code is to blame; what the file has of the rule is its `cap`.
    let places = faults
        .iter()
        .map(|of| (of.rule().as_str(), of.line(), of.key()));
    let places: Vec<_> = places.collect();
    assert_eq!(places, [("X1", Some(3), "policies.broken.cap")]);
    assert_eq!(
        config::status().last_error().unwrap().to_string(),
        faults.to_string()
    );
    // What held before holds on.
    calls.replace(0);
    let _ = above(&calls);
    assert_eq!(calls.take(), 2);
    // Keys that do nothing any more break nothing.
    file.write("[policies.broken]\nmax = 1\n");
    config::reload().unwrap();
    assert!(config::status().last_error().is_none());
    let _ = above(&calls);
    assert_eq!(calls.take(), 1);
}

/// Goes with every file of the next test.
#[retry(policy = "whole", max = 3, base = "10ms", on(_))]
fn fitting(calls: &RefCell<u32>) -> Result<(), String> {
    *calls.borrow_mut() += 1;
    Err("no".to_owned())
}

/// Does not go with a `cap` of 1 s.
#[retry(policy = "whole", max = 3, base = "5s", on(_))]
fn clashing(calls: &RefCell<u32>) -> Result<(), String> {
    *calls.borrow_mut() += 1;
    Err("no".to_owned())
}

/// One operation that clashes keeps the others, the switch and the policies as they were.
#[test]
fn a_file_is_taken_as_a_whole_or_not_at_all() {
    let (_turn, _time) = sync_turn();
    let calls = RefCell::new(0);
    let attempts = |call: fn(&RefCell<u32>) -> Result<(), String>| {
        let _ = call(&calls);
        calls.take()
    };
    let file = File::new("[policies.whole]\nmax = 2\n");
    config::load(file.path()).unwrap();
    // The one that fits is looked at first.
    assert_eq!((attempts(fitting), attempts(clashing)), (2, 2));
    for refused in [
        "[policies.whole]\nmax = 4\ncap = \"1s\"\n[policies.new]\nmax = 7\n",
        "enabled = false\n[policies.whole]\nmax = 4\ncap = \"1s\"\n",
    ] {
        file.write(refused);
        let faults = config::reload().unwrap_err();
        assert_eq!(faults.iter().count(), 1, "{faults}");
        assert_eq!((attempts(fitting), attempts(clashing)), (2, 2));
        assert!(config::are_retries_on());
        assert!(config::policy("new").is_none());
    }
    file.write("[policies.whole]\nmax = 4\n");
    config::reload().unwrap();
    assert_eq!((attempts(fitting), attempts(clashing)), (4, 4));
}

/// As `above`, and first used when the file is there already.
#[retry(policy = "late", max = 3, base = "5s", on(_))]
fn late(calls: &RefCell<u32>) -> Result<(), String> {
    *calls.borrow_mut() += 1;
    Err("no".to_owned())
}

#[test]
fn an_operation_that_comes_later_keeps_its_own_keys_and_says_so_once() {
    let (_turn, _time) = sync_turn();
    install("[policies.late]\ncap = \"1s\"\nmax = 2\n");
    let reported = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&reported);
    let added = observe::add(move |event: &Event<'_>| {
        if matches!(event, Event::ReloadRefused(_)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    let calls = RefCell::new(0);
    let _ = late(&calls);
    let _ = late(&calls);
    added.remove();
    assert_eq!((calls.take(), reported.load(Ordering::Relaxed)), (6, 1));
    let status = config::status();
    assert!(status.last_error().unwrap().to_string().contains("[X1]"));
}

/// Only attempts whose error says so.
#[retry(policy = "ends", max = 2, on(_))]
fn ends() -> Result<(), reattempt::RetryError<String>> {
    Err("no".to_owned())
}

#[test]
fn a_single_operation_is_switched_off() {
    let (_turn, _time) = sync_turn();
    let reason = || ends().unwrap_err().reason();
    assert_eq!(reason(), GiveUpReason::Attempts);
    let name = concat!(module_path!(), "::ends");
    install(&format!("[operations.\"{name}\"]\nenabled = false\n"));
    assert_eq!(reason(), GiveUpReason::Disabled);
    assert_eq!(GiveUpReason::Disabled.as_str(), "disabled");
    install("");
    assert_eq!(reason(), GiveUpReason::Attempts);
}

struct Client;

impl Client {
    #[retry(policy = "ends", max = 2, on(_))]
    #[expect(clippy::unused_self, reason = "only its name is looked at")]
    fn ends(&self) -> Result<(), reattempt::RetryError<String>> {
        Err("no".to_owned())
    }
}

#[test]
fn a_method_is_named_with_its_type() {
    let (_turn, _time) = sync_turn();
    let reasons = || [Client.ends(), ends()].map(|end| end.unwrap_err().reason());
    let name = concat!(module_path!(), "::Client::ends");
    install(&format!("[operations.\"{name}\"]\nenabled = false\n"));
    assert_eq!(reasons(), [GiveUpReason::Disabled, GiveUpReason::Attempts]);
    assert_eq!(config::status().unused_operations().count(), 0);
    install("");
}

#[retry(policy = "clashes", max = 3, cap = "1s", on(_))]
fn clashes() -> Result<(), reattempt::RetryError<String>> {
    Err("no".to_owned())
}

/// What the file says of its delays does not go with the code.
#[test]
fn an_operation_that_is_switched_off_is_so_by_a_policy_that_is_refused() {
    let (_turn, _time) = sync_turn();
    let name = concat!(module_path!(), "::clashes");
    install(&format!(
        "[operations.\"{name}\"]\nenabled = false\nbase = \"2s\"\n"
    ));
    assert_eq!(clashes().unwrap_err().reason(), GiveUpReason::Disabled);
    assert!(config::status().last_error().is_some());
}
