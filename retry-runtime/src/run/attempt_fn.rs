//! What a policy runs, and what it asks: closures. The traits are there for what the compiler says of anything else.

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

/// A closure or a function without parameters that makes the future of one attempt: `FnMut() -> F`, or an async closure
/// that changes nothing around it.
#[diagnostic::on_unimplemented(
    message = "an async operation is begun anew for each attempt, and `{Self}` cannot be",
    label = "neither a function nor a closure that makes a new future each time",
    note = "write a closure without parameters that makes the future, `run_async(|| fetch(id))`, without `.await` inside the parentheses",
    note = "to change a variable: change it in front of the future, `run_async(|| {{ calls += 1; fetch(calls) }})`",
    note = "for a future that borrows a variable by `&mut`: `retry_block!(async || -> Result<T, E> {{ ... }})`",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait AsyncAttemptFn<F>: FnMut() -> F {}

#[diagnostic::do_not_recommend]
impl<F, M: FnMut() -> F> AsyncAttemptFn<F> for M {}

/// The future of one attempt.
#[diagnostic::on_unimplemented(
    message = "`run_async` awaits what its closure returns, and `{Self}` is not a future",
    label = "this closure returns no future",
    note = "for a sync operation write `run`, which blocks the thread while it waits",
    note = "for an async operation return its future, without `.await` and `?`: `run_async(|| fetch(id))`; or write an async closure, `run_async(async || fetch(id).await)`",
    note = "for a sync operation inside an async function: `run_async(async || load(id))`",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait AttemptFuture: Future {}

#[diagnostic::do_not_recommend]
impl<F: Future> AttemptFuture for F {}

/// A closure or a function that says which errors are retried: `FnMut(&E) -> bool`, or `-> Verdict`.
#[diagnostic::on_unimplemented(
    message = "`on` takes a function of the error, and `{Self}` is not one",
    label = "what `on` was given here is neither a closure nor a function",
    note = "write a closure that returns a `bool` or a `reattempt::Verdict`, such as `on(|error: &std::io::Error| error.kind() == std::io::ErrorKind::TimedOut)`",
    note = "to match a pattern: `on(|error: &E| matches!(error, Pattern | Pattern))`; for any error: `on(|_: &E| true)`",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait VerdictFn<E> {
    type Verdict;

    fn verdict(&mut self, error: &E) -> Self::Verdict;
}

#[diagnostic::do_not_recommend]
impl<E, V, F: FnMut(&E) -> V> VerdictFn<E> for F {
    type Verdict = V;

    fn verdict(&mut self, error: &E) -> V {
        self(error)
    }
}
