//! The writes of one transaction.

use std::sync::Arc;

use super::OnError;
use super::job::{Job, ReplyTo};
use super::locked::Locked;
use crate::store::{Store, StoreError, StoreFuture, Write, WriteResult};

/// Carries out the writes of a group.
pub(super) type WriteFn = fn(&dyn Store, Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>>;

/// The writes of one transaction, and the callers that wait for the results.
pub(super) struct Group {
    pub(super) writes: Arc<[Write]>,
    replies: Vec<ReplyTo>,
}

impl Group {
    pub(super) fn of(jobs: impl Iterator<Item = Job>) -> Self {
        let (writes, replies): (Vec<_>, _) = jobs.map(|job| (job.write, job.reply)).unzip();
        Self {
            writes: writes.into(),
            replies,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.replies.len()
    }

    /// Carries out the writes. On success every caller has a result, and the group is empty.
    pub(super) async fn write_to(
        &mut self,
        store: &dyn Store,
        write: WriteFn,
    ) -> Result<(), StoreError> {
        if self.replies.is_empty() {
            return Ok(());
        }
        let results = match write(store, Arc::clone(&self.writes)).await {
            Ok(results) => results,
            Err(error) => {
                // Only a group of one write says which task a lasting error is about.
                let task = match &*self.writes {
                    [write] if !error.is_passing() => write.task(),
                    _ => None,
                };
                return Err(error.about(task, None));
            }
        };
        let mut results = results.into_iter();
        for reply in std::mem::take(&mut self.replies) {
            let missing = || StoreError::lasting("the store returned no result for a write");
            let result = results.next().ok_or_else(|| Arc::new(missing()));
            reply.send(result);
        }
        Ok(())
    }

    /// Sends an error to the callers of some writes, and keeps the other writes.
    pub(super) fn refuse(&mut self, which: impl Fn(&Write) -> bool, error: &Arc<StoreError>) {
        let (refused, others): (Vec<_>, Vec<_>) =
            self.take_jobs().partition(|job| which(&job.write));
        for job in refused {
            job.reply.send(Err(Arc::clone(error)));
        }
        *self = Self::of(others.into_iter());
    }

    /// Returns whether the group has such a write.
    pub(super) fn has(&self, which: impl Fn(&Write) -> bool) -> bool {
        !self.replies.is_empty() && self.writes.iter().any(which)
    }

    /// Carries out each write by itself after an error that does not pass: the store may be unable to take
    /// one of them.
    pub(super) async fn write_each(
        &mut self,
        store: &dyn Store,
        write: WriteFn,
        error: StoreError,
        on_error: &OnError,
    ) {
        if self.len() == 1 {
            return self.refuse(|_| true, &Arc::new(error));
        }
        // In their order, because writes of one task may depend on each other.
        for mut single in self.take(|_| true) {
            if let Err(error) = single.write_to(store, write).await {
                on_error(&error);
                single.refuse(|_| true, &Arc::new(error));
            }
        }
    }

    /// Returns whether a caller still waits for a result. A report counts, too, although no caller
    /// waits for it.
    pub(super) fn is_wanted(&self) -> bool {
        self.replies.iter().any(|reply| !reply.is_closed())
            || self.has(|write| matches!(write, Write::Running { .. }))
    }

    /// Leaves out the writes that must wait for locked tasks.
    pub(super) fn leave_to(&mut self, locked: &mut Locked) {
        let jobs = locked.keep(self.take_jobs().collect());
        *self = Self::of(jobs.into_iter());
    }

    /// Takes some writes out of the group, and returns a group for each.
    pub(super) fn take(&mut self, which: impl Fn(&Write) -> bool) -> Vec<Self> {
        let (taken, others): (Vec<_>, Vec<_>) = self.take_jobs().partition(|job| which(&job.write));
        *self = Self::of(others.into_iter());
        let single = |job| Self::of(std::iter::once(job));
        taken.into_iter().map(single).collect()
    }

    /// Takes all writes out of the group.
    fn take_jobs(&mut self) -> impl Iterator<Item = Job> + use<> {
        // A copy: the store may still own the list of an attempt whose answer came too late.
        let writes: Vec<_> = self.writes.iter().cloned().collect();
        let replies = std::mem::take(&mut self.replies);
        writes
            .into_iter()
            .zip(replies)
            .map(|(write, reply)| Job { write, reply })
    }
}
