//! The task: an order of four steps. Some orders fail for good in the last step and are undone.

use std::time::Duration;

use reattempt_supervisor::{Child, Step, StepError, WorkflowContext, step, workflow};

use crate::ledger::LedgerClient;

#[step(retry(max = 3, base = "5ms", on(_)), complete_by = "20s", undo = unreserve)]
pub(crate) async fn reserve(
    step: &Step,
    #[with] ledger: &LedgerClient,
    order: u32,
) -> Result<u32, String> {
    ledger.call(step, "reserve", order).await
}

#[step(retry(max = 3, base = "5ms", on(_)))]
pub(crate) async fn unreserve(
    step: &Step,
    #[with] ledger: &LedgerClient,
    order: u32,
    _reserved: &u32,
) -> Result<u32, String> {
    ledger.call(step, "unreserve", order).await
}

#[step(retry(max = 3, base = "5ms", on(_)), complete_by = "20s", undo = refund)]
pub(crate) async fn pay(
    step: &Step,
    #[with] ledger: &LedgerClient,
    order: u32,
) -> Result<u32, String> {
    ledger.call(step, "pay", order).await
}

#[step(retry(max = 3, base = "5ms", on(_)))]
pub(crate) async fn refund(
    step: &Step,
    #[with] ledger: &LedgerClient,
    order: u32,
    _paid: &u32,
) -> Result<u32, String> {
    ledger.call(step, "refund", order).await
}

#[step(complete_by = "20s")]
pub(crate) async fn pack(
    step: &Step,
    #[with] ledger: &LedgerClient,
    order: u32,
) -> Result<u32, String> {
    ledger.call(step, "pack", order).await
}

/// Every third order cannot be shipped.
#[step]
pub(crate) async fn ship(
    step: &Step,
    #[with] ledger: &LedgerClient,
    order: u32,
) -> Result<u32, String> {
    ledger.call(step, "ship", order).await?;
    if is_unshippable(order) {
        return Err("no such address".to_owned());
    }
    Ok(order)
}

/// A task without steps.
#[workflow(max_failures = 1_000_000)]
pub(crate) async fn fresh(_context: &WorkflowContext) -> Result<(), StepError> {
    Ok(())
}

/// An order that waits for a signal.
#[workflow(max_failures = 1_000_000)]
pub(crate) async fn trip(context: &WorkflowContext, order: u32) -> Result<u32, StepError> {
    let (_, _) = tokio::try_join!(reserve(context, order), pay(context, order))?;
    let _: Option<u32> = context.signal("go", None).await?;
    pack(context, order).await?;
    ship(context, order).await
}

/// Takes long enough to be reported, and less than it may.
#[step(complete_by = "3s")]
async fn wrap(_step: &Step) -> Result<(), String> {
    tokio::time::sleep(Duration::from_millis(400)).await;
    Ok(())
}

#[step(complete_by = "20s")]
async fn dry(_step: &Step, _nth: u32) -> Result<(), String> {
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    Ok(())
}

/// An order with a step whose limit passes long after its end, while its worker holds the task.
#[workflow(max_failures = 1_000_000)]
pub(crate) async fn slow(context: &WorkflowContext, order: u32) -> Result<u32, StepError> {
    let (_, _) = tokio::try_join!(reserve(context, order), pay(context, order))?;
    wrap(context).await?;
    for nth in 0..4 {
        dry(context, nth).await?;
    }
    pack(context, order).await?;
    ship(context, order).await
}

/// An order that waits for longer than it may take.
#[workflow(max_failures = 1_000_000, complete_by = "3s")]
pub(crate) async fn late(context: &WorkflowContext, order: u32) -> Result<u32, StepError> {
    let (_, _) = tokio::try_join!(reserve(context, order), pay(context, order))?;
    let _: Option<u32> = context.signal("never", None).await?;
    Ok(order)
}

pub(crate) fn is_unshippable(order: u32) -> bool {
    order % 3 == 2
}

/// The task may fail often: crashes are not its fault.
#[workflow(max_failures = 1_000_000)]
pub(crate) async fn order(context: &WorkflowContext, order: u32) -> Result<u32, StepError> {
    let (_, _) = tokio::try_join!(reserve(context, order), pay(context, order))?;
    context
        .sleep(Duration::from_millis(u64::from(order % 5)))
        .await;
    pack(context, order).await?;
    ship(context, order).await
}

#[step(complete_by = "60s")]
async fn develop(step: &Step, #[with] ledger: &LedgerClient, number: u32) -> Result<u32, String> {
    ledger.call(step, "develop", number).await
}

/// A child of an album.
#[workflow(max_failures = 1_000_000)]
pub(crate) async fn photo(context: &WorkflowContext, number: u32) -> Result<u64, StepError> {
    develop(context, number).await.map(u64::from)
}

/// Gathers so many children, and waits for a signal before it ends.
#[workflow(max_failures = 1_000_000)]
pub(crate) async fn album(
    context: &WorkflowContext,
    count: u32,
) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
    let mut children: Vec<Child<u64>> = Vec::new();
    for number in 0..count {
        children.push(context.start(photo(number)).await);
    }
    let numbers = context.gather(&children).await;
    let _: Option<u32> = context.signal("go", None).await?;
    let numbers: Result<Vec<u64>, _> = numbers.into_iter().collect();
    Ok(numbers?.into_iter().sum())
}

/// Continues as new after each turn.
#[workflow(max_failures = 1_000_000)]
pub(crate) async fn turns(
    context: &WorkflowContext,
    number: u32,
    end: u32,
) -> Result<u32, StepError> {
    let done = develop(context, number).await?;
    if done == end {
        return Ok(done);
    }
    context.continue_as_new(turns(done + 1, end)).await
}
