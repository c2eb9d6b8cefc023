//! An agent: runs one step under its own policy, and never past its `complete_by`.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use reattempt::{GiveUpReason, RetryError, deadline};

use super::Flow;
use super::step::Spec;
use crate::store::Operation;

/// What takes no longer is not announced: it would cost each step a write.
const ANNOUNCED_AFTER: Duration = Duration::from_millis(250);

/// How much longer than its `complete_by` a supervisor lets a step be: its own worker is to notice first.
const GRACE: Duration = Duration::from_secs(1);

/// How a step ended.
pub(super) enum Ended<T> {
    Done(T),
    /// For good: what it said, after how many attempts.
    Failed(String, u32),
    /// It may be worth another try, some time.
    Again(String),
}

pub(super) async fn run<T>(
    flow: &Flow,
    spec: Spec,
    body: impl Future<Output = Result<T, Fault>>,
) -> Ended<T> {
    let Some(limit) = spec.complete_by else {
        return judged(spec, body.await);
    };
    let mut body = pin!(deadline::within(limit, body));
    let mut over = pin!(tokio::time::sleep(limit));
    let mut announced = pin!(tokio::time::sleep(ANNOUNCED_AFTER.min(limit)));
    let mut is_announced = limit <= ANNOUNCED_AFTER;
    poll_fn(|context| {
        if let Poll::Ready(outcome) = body.as_mut().poll(context) {
            return Poll::Ready(judged(spec, outcome));
        }
        if over.as_mut().poll(context).is_ready() {
            let name = spec.name;
            return Poll::Ready(Ended::Again(format!(
                "step `{name}` was not done by its `complete_by` of {limit:?}"
            )));
        }
        if !is_announced && announced.as_mut().poll(context).is_ready() {
            is_announced = true;
            let left = limit.saturating_sub(ANNOUNCED_AFTER).saturating_add(GRACE);
            let by = flow.inner.store_now().after(left);
            // Nobody waits for it; if the task is lost, the next record says so.
            drop(
                flow.inner
                    .writer
                    .send(Operation::Announce(flow.inner.hold, by)),
            );
        }
        Poll::Pending
    })
    .await
}

fn judged<T>(spec: Spec, outcome: Result<T, Fault>) -> Ended<T> {
    let fault = match outcome {
        Ok(value) => return Ended::Done(value),
        Err(fault) => fault,
    };
    match fault.again {
        None => Ended::Failed(fault.said, fault.attempts),
        Some(reason) => Ended::Again(format!(
            "step `{}` gave up after {} attempts, {reason}: {}",
            spec.name, fault.attempts, fault.said
        )),
    }
}

/// Why the attempts of a step ended.
#[derive(Debug)]
pub struct Fault {
    said: String,
    attempts: u32,
    /// Why, where another try may be worth it.
    again: Option<GiveUpReason>,
}

impl Fault {
    pub(crate) fn last(error: &impl fmt::Display) -> Self {
        Self {
            said: error.to_string(),
            attempts: 1,
            again: None,
        }
    }

    pub(crate) fn gave_up<E: fmt::Display>(failed: &RetryError<E>) -> Self {
        let said = match failed.last() {
            Some(error) => error.to_string(),
            None => failed.to_string(),
        };
        let is_final = matches!(
            failed.reason(),
            GiveUpReason::Permanent | GiveUpReason::RetryForbidden | GiveUpReason::Strategy
        );
        Self {
            said,
            attempts: failed.attempts(),
            again: (!is_final).then_some(failed.reason()),
        }
    }
}
