//! Names that the expansion might take for its own.

use reattempt_supervisor::{Flow, Step, StepError, step, workflow};
use serde::{Deserialize, Serialize};

use super::outcome;

/// Types and constants in the place of what the expansions have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Of(u32);

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Spec(u32);

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
    flow: u32,
    undo: u32,
    input: u32,
    spec: Spec,
    of: Of,
    result: u32,
    kept_0: &u32,
) -> Result<u32, String> {
    let run = u32::from(step.run().to_string().is_empty());
    Ok(flow + undo + input + spec.0 + of.0 + result + kept_0 + SPEC + NAME + run)
}

#[step]
async fn result(
    _: &Step,
    _flow: u32,
    undo: u32,
    _input: u32,
    _spec: Spec,
    _of: Of,
    _result: u32,
    _kept_0: &u32,
    result: &u32,
) -> Result<u32, String> {
    Ok(undo + result)
}

#[step]
async fn step_of(_: &Step, step: u32, flow_: u32, flow: u32) -> Result<u32, String> {
    Ok(step + flow_ + flow)
}

#[step]
async fn r#match(_: &Step, r#type: u32) -> Result<u32, String> {
    Ok(r#type)
}

#[workflow]
async fn flow(flow: &Flow, of: Of, spec: Spec) -> Result<(Of, u32), StepError> {
    let mut sum = function(flow, 1, 2, 3).await?;
    sum += undo(flow, 1, 2, 3, spec, of.clone(), 6, &7).await?;
    sum += step_of(flow, 1, 1, 1).await? + r#match(flow, 1).await?;
    Ok((of, sum))
}

#[workflow]
async fn input(flow: &Flow, input: u32, function: Of, argument_0: u32) -> Result<u32, StepError> {
    assert_eq!((function, argument_0), (Of(2), 3));
    r#match(flow, input).await
}

#[tokio::test(start_paused = true)]
async fn names_of_ours_are_free() {
    let answer = outcome(flow(Of(5), Spec(4)), |it| it.register(flow)).await;
    assert_eq!(answer.unwrap(), (Of(5), 123 + 28 + 90 + 4));
    let answer = outcome(input(1, Of(2), 3), |it| it.register(input)).await;
    assert_eq!(answer.unwrap(), 1);
}
