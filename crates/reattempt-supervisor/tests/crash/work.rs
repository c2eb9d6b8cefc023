//! The task: an order of four steps, of which some fail for good at the last and are undone.

use std::time::Duration;

use reattempt_supervisor::{Flow, Step, StepError, step, workflow};

use crate::ledger::Client;

#[step(retry(max = 3, base = "5ms", on(_)), complete_by = "20s", undo = unreserve)]
pub(crate) async fn reserve(
    step: &Step,
    #[with] ledger: &Client,
    order: u32,
) -> Result<u32, String> {
    ledger.call(step, "reserve", order).await
}

#[step(retry(max = 3, base = "5ms", on(_)))]
pub(crate) async fn unreserve(
    step: &Step,
    #[with] ledger: &Client,
    order: u32,
    _reserved: &u32,
) -> Result<u32, String> {
    ledger.call(step, "unreserve", order).await
}

#[step(retry(max = 3, base = "5ms", on(_)), complete_by = "20s", undo = refund)]
pub(crate) async fn pay(step: &Step, #[with] ledger: &Client, order: u32) -> Result<u32, String> {
    ledger.call(step, "pay", order).await
}

#[step(retry(max = 3, base = "5ms", on(_)))]
pub(crate) async fn refund(
    step: &Step,
    #[with] ledger: &Client,
    order: u32,
    _paid: &u32,
) -> Result<u32, String> {
    ledger.call(step, "refund", order).await
}

#[step(complete_by = "20s")]
pub(crate) async fn pack(step: &Step, #[with] ledger: &Client, order: u32) -> Result<u32, String> {
    ledger.call(step, "pack", order).await
}

/// Every third order cannot be shipped.
#[step]
pub(crate) async fn ship(step: &Step, #[with] ledger: &Client, order: u32) -> Result<u32, String> {
    ledger.call(step, "ship", order).await?;
    if is_unshippable(order) {
        return Err("no such address".to_owned());
    }
    Ok(order)
}

pub(crate) fn is_unshippable(order: u32) -> bool {
    order % 3 == 2
}

/// Crashes are no fault of the task: as many as there may be.
#[workflow(max_failures = 1_000_000)]
pub(crate) async fn order(flow: &Flow, order: u32) -> Result<u32, StepError> {
    let (_, _) = tokio::try_join!(reserve(flow, order), pay(flow, order))?;
    flow.sleep(Duration::from_millis(u64::from(order % 5)))
        .await;
    pack(flow, order).await?;
    ship(flow, order).await
}
