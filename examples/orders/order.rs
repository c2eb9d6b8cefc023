//! An order: four steps, and how they are undone.

use std::time::Duration;

use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};

use super::shop::Shop;

#[step(retry(max = 4, base = "50ms"), complete_by = "10s", undo = put_back)]
async fn reserve(step: &Step, #[with] shop: &Shop, item: &str) -> Result<String, reqwest::Error> {
    shop.call(step, &format!("reserve-{item}")).await
}

#[step(retry(max = 4, base = "50ms"))]
async fn put_back(
    step: &Step,
    #[with] shop: &Shop,
    item: &str,
    _reserved: &String,
) -> Result<String, reqwest::Error> {
    shop.call(step, &format!("put-back-{item}")).await
}

#[step(retry(max = 4, base = "50ms"), complete_by = "10s", undo = refund)]
async fn pay(step: &Step, #[with] shop: &Shop, cents: u32) -> Result<String, reqwest::Error> {
    shop.call(step, &format!("pay-{cents}")).await
}

#[step(retry(max = 4, base = "50ms"))]
async fn refund(
    step: &Step,
    #[with] shop: &Shop,
    cents: u32,
    _paid: &String,
) -> Result<String, reqwest::Error> {
    shop.call(step, &format!("refund-{cents}")).await
}

#[step(retry(max = 4, base = "50ms"), complete_by = "10s")]
async fn ship(step: &Step, #[with] shop: &Shop, item: &str) -> Result<String, reqwest::Error> {
    shop.call(step, &format!("ship-{item}")).await
}

#[step(retry(max = 4, base = "50ms"), complete_by = "10s")]
async fn thank(step: &Step, #[with] shop: &Shop) -> Result<String, reqwest::Error> {
    shop.call(step, "thank").await
}

#[workflow(name = "order", version = 1, complete_by = "10m")]
pub(crate) async fn order(
    context: &WorkflowContext,
    item: String,
    cents: u32,
) -> Result<String, StepError> {
    reserve(context, &item).await?;
    let receipt = pay(context, cents).await?;
    context.sleep(Duration::from_millis(500)).await;
    ship(context, &item).await?;
    thank(context).await?;
    Ok(receipt)
}
