//! Every key and every kind of parameter.

use core::time::Duration;

use durable::{Step, StepError, WorkflowContext, step, workflow};
use serde::{Deserialize, Serialize};

/// What is ordered.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Order {
    /// What.
    pub text: String,
}

/// A shared resource.
#[derive(Debug)]
#[non_exhaustive]
pub struct Pool(pub String);

/// How long.
const LIMIT: Duration = Duration::from_secs(9);

/// Pays.
///
/// # Errors
///
/// For the lints.
#[step(
    retry(max = 3, base = "10ms", on(_), deadline = "8s", context = attempt),
    complete_by = LIMIT,
    undo = refund,
    name = "pay",
    crate = ::durable,
)]
pub async fn pay(
    step: &Step,
    #[with] pool: &Pool,
    (first, second): (u32, u32),
    text: &str,
    order: &Order,
    maybe: Option<&str>,
    some: Option<Order>,
) -> Result<String, String> {
    if attempt.number() > 2 && pool.0.is_empty() {
        return Err(text.to_owned());
    }
    let sum = first.saturating_add(second);
    Ok(format!(
        "{} {sum} {maybe:?} {} {}",
        step.key(),
        order.text,
        some.is_some()
    ))
}

/// Pays back.
///
/// # Errors
///
/// For the lints.
#[step(crate = ::durable)]
pub async fn refund(
    _step: &Step,
    pair: (u32, u32),
    text: &str,
    order: &Order,
    maybe: Option<&str>,
    some: Option<Order>,
    answer: &str,
) -> Result<(), String> {
    if pair.0 > 1 && text == order.text && maybe.is_none() && some.is_none() {
        return Err(answer.to_owned());
    }
    Ok(())
}

/// Waits for nothing.
///
/// # Errors
///
/// Never.
#[step(crate = ::durable)]
pub async fn simple<'text>(_: &Step, text: &'text str, other: &'text str) -> Result<usize, String> {
    Ok(text.len().max(other.len()))
}

/// An order.
///
/// # Errors
///
/// Those of its steps.
#[workflow(name = "order", version = 2, complete_by = "3d", max_failures = 4, crate = ::durable)]
pub async fn order(
    context: &WorkflowContext,
    cart: Order,
    (first, second): (u32, u32),
) -> Result<String, StepError> {
    let _length = simple(context, &cart.text, "other").await?;
    pay(context, (first, second), "text", &cart, None, None).await
}

/// Nothing.
///
/// # Errors
///
/// Never.
#[rustfmt::skip]
#[workflow(crate = ::durable)]
pub async fn on_one_line(_: &WorkflowContext) -> Result<(), StepError> { Ok(()) }

/// Nothing.
///
/// # Errors
///
/// Never.
#[workflow(crate = ::durable)]
pub async fn empty(_: &WorkflowContext) -> Result<(), StepError> {
    Ok(())
}
