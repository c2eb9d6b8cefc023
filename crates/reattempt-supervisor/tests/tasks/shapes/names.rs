//! Names that the expansions also use.

use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};
use serde::{Deserialize, Serialize};

use super::task_result;

/// Types and constants with names that the expansions use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Of(u32);

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct StepSpec(u32);

const SPEC: u32 = 40;
const NAME: u32 = 50;

#[step(retry(max = 2, on(_)))]
async fn function(
    _: &Step,
    function: u32,
    argument_0: u32,
    argument_1: u32,
) -> Result<u32, String> {
    Ok(function * 100 + argument_0 * 10 + argument_1)
}

#[step(undo = result)]
async fn undo(
    step: &Step,
    context: u32,
    undo: u32,
    input: u32,
    spec: StepSpec,
    of: Of,
    result: u32,
    copy_0: &u32,
) -> Result<u32, String> {
    let task = u32::from(step.task().to_string().is_empty());
    Ok(context + undo + input + spec.0 + of.0 + result + copy_0 + SPEC + NAME + task)
}

#[step]
async fn result(
    _: &Step,
    _context: u32,
    undo: u32,
    _input: u32,
    _spec: StepSpec,
    _of: Of,
    _result: u32,
    _copy_0: &u32,
    value: &u32,
) -> Result<u32, String> {
    Ok(undo + value)
}

#[step]
async fn step_of(_: &Step, step: u32, context_: u32, context: u32) -> Result<u32, String> {
    Ok(step + context_ + context)
}

#[step]
async fn r#match(_: &Step, r#type: u32) -> Result<u32, String> {
    Ok(r#type)
}

#[workflow]
async fn context(
    context: &WorkflowContext,
    of: Of,
    spec: StepSpec,
) -> Result<(Of, u32), StepError> {
    let mut sum = function(context, 1, 2, 3).await?;
    sum += undo(context, 1, 2, 3, spec, of.clone(), 6, &7).await?;
    sum += step_of(context, 1, 1, 1).await? + r#match(context, 1).await?;
    Ok((of, sum))
}

#[workflow]
async fn input(
    context: &WorkflowContext,
    input: u32,
    function: Of,
    argument_0: u32,
) -> Result<u32, StepError> {
    assert_eq!((function, argument_0), (Of(2), 3));
    r#match(context, input).await
}

#[tokio::test(start_paused = true)]
async fn users_may_use_the_names_of_expansions() {
    let answer = task_result(context(Of(5), StepSpec(4)), |it| it.register(context)).await;
    assert_eq!(answer.unwrap(), (Of(5), 123 + 28 + 90 + 4));
    let answer = task_result(input(1, Of(2), 3), |it| it.register(input)).await;
    assert_eq!(answer.unwrap(), 1);
}
