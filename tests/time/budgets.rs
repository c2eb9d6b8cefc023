//! The budget that the calls of an operation share, however its policy is written. In a build without statistics its
//! sync calls have a loop of their own, which `tests/limits` does not reach.

use std::cell::Cell;

use reattempt::{GiveUpReason, Policy, RetryError, retry, retry_block, testing};

type Answer = Result<(), RetryError<&'static str>>;

/// Fails so often, and then succeeds.
fn answer(left: &Cell<u32>) -> Result<(), &'static str> {
    match left.get() {
        0 => Ok(()),
        more => {
            left.set(more - 1);
            Err("down")
        }
    }
}

const POLICY: Policy = Policy::new().max(3).base(std::time::Duration::from_secs(2));

macro_rules! operations {
    (|$policy:ident| $($name:ident: $($key:tt = $value:expr),*;)*) => {
        [$((stringify!($name), {
            #[retry($($key = $value,)* on(_))]
            fn $name(left: &Cell<u32>, $policy: Policy) -> Answer {
                let _ = $policy;
                answer(left)
            }
            fn block(left: &Cell<u32>, $policy: Policy) -> Answer {
                let _ = $policy;
                retry_block!($($key = $value,)* on(_), || -> Answer { answer(left) })
            }
            [
                |left: &Cell<u32>| $name(left, POLICY),
                |left: &Cell<u32>| block(left, POLICY),
            ]
        })),*]
    };
}

/// Up to three attempts, written in four ways; each place of this has budgets of its own.
macro_rules! forms {
    () => {
        operations! { |policy|
            written: max = 3, base = "2s";
            constant: policy = POLICY;
            named: policy = "budgets", max = 3, base = "2s";
            of_the_program: policy = policy;
        }
    };
}

/// Four tokens: calls in vain end together after the second, and a call that succeeds gives back what its retries took.
#[test]
fn a_success_gives_back_what_its_retries_took() {
    let _time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    let forms = forms!();
    for (name, forms) in forms {
        for (form, call) in forms.into_iter().enumerate() {
            for turn in 0..20 {
                let end = call(&Cell::new(2));
                assert!(end.is_ok(), "{name}, {form}, call {turn}: {end:?}");
            }
            let ends = [(); 4].map(|()| call(&Cell::new(9)).expect_err("down").reason());
            let [first, .., last] = ends;
            let expected = (GiveUpReason::Attempts, GiveUpReason::Budget);
            assert_eq!((first, last), expected, "{name}, {form}: {ends:?}");
            // Thirty successes at once bring as many tokens as are missing.
            for _ in 0..30 {
                assert!(call(&Cell::new(0)).is_ok());
            }
            let end = call(&Cell::new(9)).expect_err("down");
            assert_eq!(end.reason(), GiveUpReason::Attempts, "{name}, {form}");
        }
    }
}

/// A call brings a hundredth of a token when it fails first, and nothing when it fails again: of a thousand calls in vain, ten
/// are tried once more.
#[test]
fn a_first_failure_brings_a_hundredth_of_a_token() {
    let _time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    let forms = forms!();
    for (name, forms) in forms {
        for (form, call) in forms.into_iter().enumerate() {
            let retries = |calls: u32| -> u32 {
                let failures = (0..calls).map(|_| {
                    let left = Cell::new(9);
                    call(&left).expect_err("down");
                    8 - left.get()
                });
                failures.sum()
            };
            retries(20);
            assert_eq!(retries(1000), 10, "{name}, {form}");
        }
    }
}

/// 99 tokens, of which each call takes one: its first failure brings a hundredth, and the two seconds of its delay bring two.
#[test]
fn what_a_failure_takes_of_the_tokens() {
    #[retry(max = 100, base = "2s", backoff = "fixed", jitter = "none", on = |_| is_new.replace(false))]
    fn once(is_new: &Cell<bool>) -> Answer {
        answer(&Cell::new(1))
    }
    let _time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    let is_refused = |_: &u32| {
        let end = once(&Cell::new(true)).expect_err("down");
        end.reason() == GiveUpReason::Budget
    };
    // Nothing is missing before the first.
    assert_eq!((0..200).find(is_refused), Some(1 + (9900 - 100) / 97));
}

/// What asks again for a value that is not final pays nothing, and a retry of an error beside it does.
#[tokio::test(start_paused = true)]
async fn polls_are_free_and_retries_are_not() {
    #[retry(max = 20, backoff = "fixed", base = "2s", jitter = "none", until = |left: &u32| *left == 0, on(_))]
    async fn poll(left: &Cell<u32>, fails: bool) -> Result<u32, RetryError<&'static str>> {
        left.set(left.get() - 1);
        if fails { Err("down") } else { Ok(left.get()) }
    }
    #[retry(max = 20, backoff = "fixed", base = "2s", jitter = "none", until = |left: &u32| *left == 0, on(_))]
    fn sync_poll(left: &Cell<u32>, fails: bool) -> Result<u32, RetryError<&'static str>> {
        left.set(left.get() - 1);
        if fails { Err("down") } else { Ok(left.get()) }
    }
    let _limits = testing::default_budgets(true);
    for _ in 0..5 {
        assert_eq!(poll(&Cell::new(15), false).await.ok(), Some(0));
    }
    let mut ends = Vec::new();
    for _ in 0..2 {
        ends.push(poll(&Cell::new(30), true).await.expect_err("down").reason());
    }
    assert_eq!(ends, [GiveUpReason::Attempts, GiveUpReason::Budget]);
    let _time = testing::virtual_time();
    for _ in 0..5 {
        assert_eq!(sync_poll(&Cell::new(15), false).ok(), Some(0));
    }
    let ends = [(); 2].map(|()| sync_poll(&Cell::new(30), true).expect_err("down").reason());
    assert_eq!(ends, [GiveUpReason::Attempts, GiveUpReason::Budget]);
}
