//! What people call, and await, and what is called otherwise here or is not a future. Nobody can: no type meets the bounds,
//! and their messages say what to write.

use std::pin::Pin;
use std::task::{Context, Poll};

use reattempt::__private::__misnamed;

use crate::client::{Client, TaskHandle};
use crate::context::{Step, WorkflowContext};
use crate::scheduler::Scheduler;
use crate::store::submission::Submission;

/// The bound of submissions.
#[diagnostic::on_unimplemented(
    message = "the call of a workflow describes a task, which runs after it was submitted",
    label = "not a future",
    note = "write `client.submit(order(...)).await?.wait().await`, or in a workflow `context.start(order(...)).await`",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait Submitted {
    /// Nobody sees it.
    type Output;
}

/// The bound of handles.
#[diagnostic::on_unimplemented(
    message = "the handle of a task is not a future",
    label = "write `.wait()` in front of it",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait Waits {
    /// Nobody sees it.
    type Output;
}

macro_rules! no_future {
    ($($bound:ident $owner:ident)+) => { $(
        #[doc(hidden)]
        impl<T> Future for $owner<T>
        where
            // Of `Self` the compiler would only say that it is not a future.
            (Self,): $bound,
        {
            type Output = <(Self,) as $bound>::Output;

            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
                Poll::Pending
            }
        }
    )+ };
}

no_future!(Submitted Submission Waits TaskHandle);

__misnamed! {
    [fn(V); impl WorkflowContext]
    CalledStep "what a workflow records is a step, an `async fn` with `#[step]`"
        "write `#[step] async fn pay(step: &Step, ..)`, and here `pay(context, ..).await`" [activity call execute_activity run
        run_step side_effect];
    CalledChild "a workflow starts another by `start`" "write `.start(order(..))`" [child execute_child execute_workflow invoke
        spawn submit];
    CalledTimer "a workflow waits by `sleep`" "write `.sleep(..)`" [delay sleep_for timer wait];
}

__misnamed! {
    [fn(V); impl Client]
    CalledSubmit "a client submits a task" "write `.submit(order(..))`" [enqueue execute execute_workflow invoke run spawn start
        start_workflow];
}

__misnamed! {
    [Scheduler]
    CalledStart "a scheduler runs in tasks of its own, until it is stopped" "write `.start()?`, and keep what it returns" [build
        run serve spawn];
    CalledRegister "a workflow is registered" "write `.register(order)`" [add add_workflow register_workflow workflow];
    CalledWith "a resource is given by `with`, and asked for by `#[with]`" "write `.with(..)`" [data extension state with_state];
}

__misnamed! {
    [fn(); impl Step]
    CalledKey "a step has `key` for this, which all attempts of it share" "write `.key()`" [id idempotency_key];
}

__misnamed! {
    [fn(); impl<T> TaskHandle<T>]
    CalledWait "a handle waits for the result of its task by `wait`" "write `.wait()`" [get join output result];
}
