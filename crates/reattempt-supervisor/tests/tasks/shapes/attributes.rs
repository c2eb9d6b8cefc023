//! Other attributes, keys, visibility, and macros that write steps.

use std::time::Duration;

use reattempt_supervisor::{Step as Agent, StepError, WorkflowContext as Task, step, workflow};

use super::{Log, task_result};

const LIMIT: Duration = Duration::from_secs(5);
const VERSION: i32 = 3;
const NAME: &str = "by a constant";

mod inner {
    use reattempt_supervisor::{Step, StepError, step};

    /// Documented.
    #[must_use = "it is asked for"]
    #[inline]
    #[cfg(not(any()))]
    #[step(name = super::NAME, complete_by = super::LIMIT)]
    #[cfg_attr(not(any()), tracing::instrument(skip_all), doc = "And more.")]
    pub(super) async fn visible(_: &Step, number: u32) -> Result<u32, String> {
        Ok(number)
    }

    #[step(retry(max = 2, on(_), base = "1ms", name = "looked_at"), crate = reattempt_supervisor)]
    #[tracing::instrument(skip(step), err)]
    pub(in super::super) async fn spied(step: &Step, number: u32) -> Result<u32, String> {
        step.task();
        Ok(number)
    }

    #[allow(dead_code, reason = "it is there to compile")]
    pub(crate) fn asks(
        context: &super::Task,
    ) -> impl Future<Output = Result<u32, StepError>> + use<'_> {
        visible(context, 1)
    }
}

/// A step from a macro, with the types and paths of a macro.
macro_rules! written {
    ($name:ident, $ty:ty, $undo:path, $keys:expr, $body:block) => {
        #[step(undo = $undo, complete_by = $keys)]
        async fn $name(_: &Agent, #[with] _log: &Log, _value: $ty) -> Result<$ty, String> $body
    };
}

written!(by_a_macro, u32, unwritten, "3s", { Ok(5) });

#[step]
async fn unwritten(_: &Agent, value: u32, answer: &u32) -> Result<u32, String> {
    Ok(value + answer)
}

#[workflow(
    name = "attributes",
    version = VERSION,
    complete_by = "1d 24h",
    max_failures = 0,
    crate = "reattempt_supervisor",
)]
#[tracing::instrument(skip_all)]
#[deprecated = "as a test"]
async fn decorated(context: &Task, number: u32) -> Result<u32, StepError> {
    let seen = inner::visible(context, number).await? + inner::spied(context, number).await?;
    Ok(seen + by_a_macro(context, 1).await?)
}

#[tokio::test(start_paused = true)]
#[expect(deprecated, reason = "it is said of the function that is called")]
async fn attributes_go_where_they_belong() {
    let known = |it: reattempt_supervisor::Scheduler| it.register(decorated).with(Log::default());
    assert_eq!(task_result(decorated(2), known).await.unwrap(), 9);
}

#[test]
#[expect(deprecated, reason = "it is said of the function that is called")]
fn keys_are_what_they_say() {
    fn check<W: reattempt_supervisor::Workflow>(_: reattempt_supervisor::Submission<W>) {
        assert_eq!(W::NAME, "attributes");
        assert_eq!(W::VERSION, 3);
        assert_eq!(W::COMPLETE_BY, Some(Duration::from_secs(48 * 3600)));
        assert_eq!(W::MAX_FAILURES, 0);
    }
    check(decorated(1));
}
