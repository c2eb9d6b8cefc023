//! Every key, with the other keys that it needs.

use std::collections::BTreeSet;

use reattempt::strategy::Decision;
use reattempt::{
    Breaker, Budget, Bulkhead, Policy, RetryError, Throttle, Verdict, Verified, retry,
};

use crate::{Unused, Used, allocates_nothing, ready};

static BREAKER: Breaker = Breaker::count_window(10);
static BULKHEAD: Bulkhead = Bulkhead::new(8);
static THROTTLE: Throttle = Throttle::adaptive();
static BUDGET: Budget = Budget::per_success(0.1);
const POLICY: Policy = Policy::new().max(4);
const CODES: reattempt::policy::Codes =
    reattempt::policy::Codes::new(&[reattempt::policy::OnCode::throttled("503")]);

type Answer = Result<u32, RetryError<u32>>;

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "a condition looks at an error"
)]
fn is_transient(_: &u32) -> bool {
    true
}

/// One sync and one async function for each key.
macro_rules! keys {
    ($list:ident, $timer:ident, $number:ident: $($name:ident $(, $only_async:ident)?: $key:literal [$($keys:tt)*];)*) => {
        mod $list {
            use super::*;

            $(keys!(@functions $timer $number $name [$($keys)*] $($only_async)?);)*

            /// Calls each of them, and returns the keys.
            pub(super) fn call() -> BTreeSet<&'static str> {
                $(keys!(@call $name $key $($only_async)?);)*
                [$($key),*].into()
            }
        }
    };
    (@functions $timer:ident $number:ident $name:ident [$($keys:tt)*] only_async) => {
        #[retry(timer = $timer, $($keys)*)]
        async fn $name($number: u32) -> Answer {
            Ok($number)
        }
    };
    (@functions $timer:ident $number:ident $name:ident [$($keys:tt)*]) => {
        mod $name {
            use super::*;

            #[retry(timer = $timer, $($keys)*)]
            pub(super) fn blocking($number: u32) -> Answer {
                Ok($number)
            }

            #[retry(timer = $timer, $($keys)*)]
            pub(super) async fn asynchronous($number: u32) -> Answer {
                Ok($number)
            }
        }
    };
    (@call $name:ident $key:literal only_async) => {
        allocates_nothing($key, || assert!(ready($name(7)).is_ok()));
    };
    (@call $name:ident $key:literal) => {
        allocates_nothing($key, || assert!($name::blocking(7).is_ok()));
        allocates_nothing($key, || assert!(ready($name::asynchronous(7)).is_ok()));
    };
}

keys! { timeless, Unused, number:
    max: "max" [max = 5, on(_)];
    backoff: "backoff" [backoff = "decorrelated", on(_)];
    base: "base" [base = "1s", on(_)];
    first: "first" [first = "1s", on(_)];
    factor: "factor" [factor = 3.0, on(_)];
    cap: "cap" [cap = "5s", on(_)];
    jitter: "jitter" [jitter = 0.2, on(_)];
    fast_first: "fast_first" [fast_first, on(_)];
    throttled_base: "throttled_base" [throttled_base = "2s", on(_)];
    max_retry_after: "max_retry_after" [max_retry_after = "2m", on(_)];
    idempotent: "idempotent" [idempotent = false, on = |_| Verdict::Refused];
    priority: "priority" [priority = "low", on(_)];
    nested: "nested" [nested = "multiply", on(_)];
    verify: "verify" [idempotent = false, verify = |_| Verified::NotDone, on(_)];
    on: "on" [on = is_transient];
    except: "except" [on(_), except(0)];
    until: "until" [until = |number: &u32| *number > 0, on(_)];
    retry_after: "retry_after" [retry_after = |_| None, on(_)];
    fallback: "fallback" [fallback = |_: RetryError<u32>| 7, on(_)];
    before_retry: "before_retry" [before_retry = |_| (), on(_)];
    on_retry: "on_retry" [on_retry = |_| (), on(_)];
    clone: "clone" [clone(number), on(_)];
    name: "name" [name = "costs", on(_)];
    detail: "detail" [detail = number, on(_)];
    doc: "doc" [doc = false, on(_)];
    policy: "policy" [policy = POLICY, on(_)];
    telemetry: "telemetry" [telemetry = "quiet", on(_)];
    codes: "codes" [codes = CODES, on(_)];
    strategy: "strategy" [strategy = |_| Decision::Stop, on(_)];
    timer: "timer" [on(_)];
    crate_: "crate" [crate = ::reattempt, on(_)];
}

keys! { by_time, Used, number:
    reset_after: "reset_after" [reset_after = "1m", on(_)];
    deadline: "deadline" [deadline = "1h", on(_)];
    timeout, only_async: "timeout" [timeout = "1s", on(_)];
    cut_off: "cut_off" [deadline = "1h", cut_off = false, on(_)];
    budget: "budget" [budget = &BUDGET, on(_)];
    breaker: "breaker" [breaker = &BREAKER, on(_)];
    bulkhead: "bulkhead" [bulkhead = &BULKHEAD, on(_)];
    throttle: "throttle" [throttle = &THROTTLE, on(_)];
    hedge, only_async: "hedge" [hedge = "1s", on(_)];
    context: "context" [context = _attempt, on(_)];
}

#[retry(map_err = |error: RetryError<u32>| error.attempts(), timer = Unused, on(_))]
fn map_err(number: u32) -> Result<u32, u32> {
    Ok(number)
}

/// It reads the clock, once.
#[retry(history, on(_))]
fn history(number: u32) -> Result<u32, RetryError<u32>> {
    Ok(number)
}

#[test]
fn every_key() {
    let mut keys = timeless::call();
    keys.extend(by_time::call());
    allocates_nothing("map_err", || assert_eq!(map_err(7), Ok(7)));
    allocates_nothing("history", || assert_eq!(history(7), Ok(7)));
    keys.extend(["map_err", "history"]);
    assert_eq!(keys, listed());
}

/// The keys that the page of the attribute lists.
fn listed() -> BTreeSet<&'static str> {
    let page = include_str!("../../retry-macros/docs/retry.md");
    page.lines()
        .filter_map(|row| row.strip_prefix("| [`")?.split('`').next())
        .collect()
}
