//! What a policy runs: a closure that makes each attempt. The traits are there for what the compiler says of anything else.

/// A closure or a function without parameters that makes one attempt: `FnMut() -> R`.
#[diagnostic::on_unimplemented(
    message = "an operation is run anew for each attempt, and `{Self}` cannot be",
    label = "neither a closure nor a function",
    note = "write a closure without parameters, `run(|| fetch(id))`",
    note = "for an async operation write `run_async(|| fetch(id))`, and `.await` behind it",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait AttemptFn<R>: FnMut() -> R {}

#[diagnostic::do_not_recommend]
impl<R, F: FnMut() -> R> AttemptFn<R> for F {}

/// A closure or a function without parameters that makes the future of one attempt: `FnMut() -> F`, or an async closure.
#[diagnostic::on_unimplemented(
    message = "an async operation is begun anew for each attempt, and `{Self}` cannot be",
    label = "neither a closure nor a function",
    note = "write a closure without parameters that makes the future, `run_async(|| fetch(id))`, without `.await` inside the parentheses",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait AsyncAttemptFn<F>: FnMut() -> F {}

#[diagnostic::do_not_recommend]
impl<F, M: FnMut() -> F> AsyncAttemptFn<F> for M {}
