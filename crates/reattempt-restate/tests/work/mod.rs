//! The workflows of the tests: the order of the examples, and workflows for other features.

use std::time::Duration;

use reattempt::{Jitter, Policy};
use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};

#[path = "../../../../examples/orders/order.rs"]
pub(crate) mod order;
#[path = "../../../../examples/orders/shop.rs"]
pub(crate) mod shop;

use shop::Shop;

pub(crate) const DELAYS: Policy = Policy::new()
    .base(Duration::from_millis(50))
    .cap(Duration::from_millis(200))
    .jitter(Jitter::None);

#[step(retry(max = 10, base = "10ms"), undo = take_back)]
async fn put(step: &Step, #[with] shop: &Shop, what: &str) -> Result<String, reqwest::Error> {
    shop.call(step, &format!("put-{what}")).await
}

#[step(retry(max = 10, base = "10ms"))]
async fn take_back(
    step: &Step,
    #[with] shop: &Shop,
    what: &str,
    _put: &String,
) -> Result<String, reqwest::Error> {
    shop.call(step, &format!("take-{what}")).await
}

#[step(retry(max = 2, base = "1ms", on(_)))]
async fn busy(_step: &Step) -> Result<(), String> {
    Err("it is busy".to_owned())
}

/// Steps and a timer at the same time.
#[workflow]
pub(crate) async fn side_by_side(
    context: &WorkflowContext,
    count: u8,
) -> Result<Vec<String>, StepError> {
    let mut heard = Vec::new();
    for nth in 0..count {
        let (left, right) = (format!("left-{nth}"), format!("right-{nth}"));
        let (one, two, ()) = tokio::join!(
            put(context, &left),
            put(context, &right),
            context.sleep(Duration::from_millis(100)),
        );
        heard.extend([one?, two?]);
    }
    Ok(heard)
}

/// Waits for two answers, and for a third that does not come.
#[workflow]
pub(crate) async fn wait_for_answers(
    context: &WorkflowContext,
    limit_ms: u64,
) -> Result<Vec<Option<String>>, String> {
    let mut heard = Vec::new();
    for limit in [None, None, Some(Duration::from_millis(limit_ms))] {
        let answer = context.signal::<String>("answer", limit).await;
        heard.push(answer.map_err(|error| error.to_string())?);
    }
    Ok(heard)
}

/// Runs two steps, and then one that always fails.
#[workflow(max_failures = 2)]
pub(crate) async fn hopeless(context: &WorkflowContext) -> Result<(), StepError> {
    put(context, "one").await?;
    put(context, "two").await?;
    busy(context).await
}

/// Runs a step, and waits for a year.
#[workflow]
pub(crate) async fn patient(context: &WorkflowContext) -> Result<(), StepError> {
    put(context, "one").await?;
    context.sleep(Duration::from_secs(31_536_000)).await;
    Ok(())
}

#[step(retry(max = 10, base = "10ms"), undo = take_back)]
async fn put_slowly(
    step: &Step,
    #[with] shop: &Shop,
    what: &str,
) -> Result<String, reqwest::Error> {
    let put = shop.call(step, &format!("put-{what}")).await?;
    tokio::time::sleep(Duration::from_millis(500)).await;
    Ok(put)
}

/// Two steps that take their time.
#[workflow]
pub(crate) async fn slow(context: &WorkflowContext) -> Result<(), StepError> {
    put_slowly(context, "first").await?;
    put_slowly(context, "second").await?;
    Ok(())
}
