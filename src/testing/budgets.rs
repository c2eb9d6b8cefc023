//! The budgets that operations have by default, which do not concern tests.

use core::marker::PhantomData;

use reattempt_core::process::limit_retries;

/// Lets the budgets that operations have by default limit the retries of this thread, until the guard is dropped; with
/// `false` they do not.
///
/// They limit no test otherwise: a retry is not refused for want of such a budget in code that is compiled for tests, under
/// [`virtual_time`](super::virtual_time), while tokio's clock is paused, and in a process with a
/// [`FaultPlan`](super::FaultPlan). Tokens are counted all the same.
///
/// # Examples
///
/// ```
/// use reattempt::{GiveUpReason, RetryError, retry, testing};
///
/// #[retry(max = 3, base = "1s", on(_))]
/// fn load() -> Result<(), RetryError<&'static str>> {
///     Err("down")
/// }
///
/// let _time = testing::virtual_time();
/// let _limited = testing::default_budgets(true);
/// let ends = [(); 4].map(|()| load().map_err(|end| end.reason()));
/// assert_eq!(ends[0], Err(GiveUpReason::Attempts));
/// assert_eq!(ends[3], Err(GiveUpReason::Budget));
/// ```
#[must_use = "dropped at once it changes nothing"]
pub fn default_budgets(limit: bool) -> DefaultBudgets {
    DefaultBudgets {
        before: limit_retries(limit),
        this_thread: PhantomData,
    }
}

/// What [`default_budgets`] has set, until this is dropped.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
pub struct DefaultBudgets {
    before: bool,
    this_thread: PhantomData<*const ()>,
}

impl Drop for DefaultBudgets {
    fn drop(&mut self) {
        limit_retries(self.before);
    }
}
