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

/// Four tokens: calls in vain end together after the second, and a call that succeeds gives back what its retries took.
#[test]
fn a_success_gives_back_what_its_retries_took() {
    let _time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    let forms = operations! { |policy|
        written: max = 3, base = "2s";
        constant: policy = POLICY;
        named: policy = "budgets", max = 3, base = "2s";
        of_the_program: policy = policy;
    };
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
        }
    }
}
