//! Reads what a claimed task has done so far, after the claim and page by page: the history of one
//! task must not hold up the claims of others.

use std::time::Duration;

use reattempt::{Jitter, Policy};

use crate::client::Shared;
use crate::context::Inner;
use crate::context::journal::Stop;
use crate::store::page::place;
use crate::store::{ClaimedTask, Page, StoreError, StoreFuture};

/// The delays between attempts while the store has a passing error, and how many attempts there are.
const DELAYS: Policy = Policy::new()
    .base(Duration::from_millis(50))
    .cap(Duration::from_secs(1))
    .jitter(Jitter::Full);
const ATTEMPTS: u32 = 5;

/// What a claim knows about a task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    may_have_records: bool,
    has_signals: bool,
}

impl Known {
    pub(super) const fn of(claimed: &ClaimedTask) -> Self {
        Self {
            may_have_records: claimed.may_have_records(),
            has_signals: claimed.has_signals,
        }
    }
}

/// Reads the records and the signals of a task. A task that no worker held before, and that has no
/// signals, costs nothing.
///
/// # Errors
///
/// * [`Stop::Lost`]: the task has changed hands meanwhile, so records may have been deleted.
/// * [`Stop::Unavailable`]: the store has a passing error.
/// * [`Stop::Refused`]: the store cannot read them.
pub(super) async fn load(inner: &Inner, known: Known, shared: &Shared) -> Result<(), Stop> {
    let store = shared.store();
    let id = inner.task.id;
    if known.may_have_records {
        let mut history = Vec::new();
        loop {
            let after = history.last().map(place);
            let page = read(inner, shared, || store.history_page(id, after)).await?;
            history.extend(page.items);
            if page.is_last {
                break;
            }
        }
        inner.load(history);
    }
    if known.has_signals {
        loop {
            let after = inner.newest_signal();
            let page = read(inner, shared, || store.signals_page(id, after)).await?;
            inner.add_signals(page.items);
            if page.is_last {
                break;
            }
        }
    }
    Ok(())
}

/// Reads one page, and checks that this worker still holds the task.
async fn read<'s, T>(
    inner: &Inner,
    shared: &Shared,
    ask: impl Fn() -> StoreFuture<'s, Option<Page<T>>>,
) -> Result<Page<T>, Stop> {
    let mut failures = 0;
    loop {
        match ask().await {
            Ok(Some(page)) if page.fence == inner.lease.fence => return Ok(page),
            Ok(_) => return Err(Stop::Lost),
            Err(error) if error.is_passing() => {
                failures = u32::saturating_add(failures, 1);
                if failures >= ATTEMPTS {
                    shared.emit(&unreadable(inner, &error));
                    return Err(Stop::Unavailable);
                }
                let delay = DELAYS.sample_delay(failures, None, rand::random);
                tokio::time::sleep(delay).await;
            }
            Err(error) => {
                let message = format!("the store cannot read what the task has done: {error}");
                return Err(Stop::Refused(message));
            }
        }
    }
}

/// Returns the event for a history that the store cannot read now.
fn unreadable(inner: &Inner, error: &StoreError) -> crate::Event {
    crate::Event::StoreError {
        error: format!(
            "the history of task {} cannot be read now, so the task is given back: {error}",
            inner.task.id
        ),
        kind: error.kind(),
        task: Some(inner.task.id),
        table: error.table().map(str::to_owned),
    }
}
