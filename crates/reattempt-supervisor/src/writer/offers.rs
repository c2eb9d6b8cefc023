//! Workers that wait for tasks: how much room they have, and when a claim makes sense.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::oneshot;

use super::job::{Job, Reply};
use crate::store::{Claim, Write};

/// A message to the writer.
#[derive(Debug)]
pub(super) enum Message {
    /// Write this.
    Job(Job),
    /// A worker waits for tasks.
    Offer(Offer),
    /// There may be something to claim.
    Look,
}

/// How many more tasks a worker can run.
#[derive(Debug, Clone)]
pub(crate) struct Room(Arc<Seats>);

#[derive(Debug)]
struct Seats {
    left: AtomicUsize,
    /// How many seats the last claim offered.
    offered: AtomicUsize,
    /// The last call that a claim has followed.
    last_call: AtomicU64,
}

impl Room {
    pub(crate) fn new(tasks: usize) -> Self {
        Self(Arc::new(Seats {
            left: AtomicUsize::new(tasks),
            offered: AtomicUsize::new(0),
            last_call: AtomicU64::new(0),
        }))
    }

    /// Returns whether the last claim may have left tasks behind.
    pub(crate) fn was_filled(&self, claimed: usize) -> bool {
        claimed >= self.0.offered.load(Ordering::Relaxed)
    }

    /// Returns whether the worker can run no more tasks.
    pub(crate) fn is_full(&self) -> bool {
        self.0.left.load(Ordering::Relaxed) == 0
    }

    /// Takes a seat for a claimed task.
    pub(crate) fn take(&self) -> Seat {
        self.0.left.fetch_sub(1, Ordering::Relaxed);
        Seat(self.clone())
    }

    fn last_call(&self) -> u64 {
        self.0.last_call.load(Ordering::Relaxed)
    }

    fn set_last_call(&self, call: u64) {
        self.0.last_call.store(call, Ordering::Relaxed);
    }

    fn offer(&self) -> usize {
        let left = self.0.left.load(Ordering::Relaxed);
        self.0.offered.store(left, Ordering::Relaxed);
        left
    }
}

/// The room that one task takes until this is dropped.
#[derive(Debug)]
pub(crate) struct Seat(Room);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.0.left.fetch_add(1, Ordering::Relaxed);
    }
}

/// A worker that waits for tasks. Its claim goes into the transaction that stores one.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) claim: Claim,
    pub(super) room: Room,
    /// Whether there may be a task that no claim has looked for.
    pub(super) is_called: bool,
    pub(super) reply: oneshot::Sender<Reply>,
}

/// All workers that wait for tasks.
#[derive(Debug, Default)]
pub(super) struct Offers {
    waiting: Vec<Offer>,
    /// How often there was something to claim; a worker may have been busy then.
    calls: u64,
}

impl Offers {
    /// Returns the jobs of the next transaction: writes in their order, then the claims of workers
    /// with room.
    pub(super) fn next_jobs(&mut self, messages: impl Iterator<Item = Message>) -> Vec<Job> {
        let mut jobs = Vec::new();
        let mut is_called = false;
        for message in messages {
            match message {
                Message::Job(job) => {
                    is_called |= job.write.may_add_work();
                    jobs.push(job);
                }
                Message::Offer(offer) => self.waiting.push(offer),
                Message::Look => is_called = true,
            }
        }
        self.waiting.retain(|offer| !offer.reply.is_closed());
        self.calls = self.calls.saturating_add(u64::from(is_called));
        for mut offer in std::mem::take(&mut self.waiting) {
            offer.is_called |= offer.room.last_call() < self.calls;
            let room = offer.room.offer();
            if !offer.is_called || room == 0 {
                self.waiting.push(offer);
                continue;
            }
            offer.room.set_last_call(self.calls);
            let limit = u32::try_from(room).unwrap_or(u32::MAX);
            jobs.push(Job {
                write: Write::Claim(Claim {
                    limit,
                    ..offer.claim
                }),
                reply: offer.reply,
            });
        }
        jobs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::WorkerId;

    fn offer_of(room: &Room) -> (Message, oneshot::Receiver<Reply>) {
        offer_with(room.clone(), false)
    }

    fn offer(room: usize, is_called: bool) -> (Message, oneshot::Receiver<Reply>) {
        offer_with(Room::new(room), is_called)
    }

    fn offer_with(room: Room, is_called: bool) -> (Message, oneshot::Receiver<Reply>) {
        let (reply, answer) = oneshot::channel();
        let claim = Claim {
            worker: WorkerId("one".to_owned()),
            queues: Vec::new(),
            workflows: Vec::new(),
            limit: 0,
            suspects: None,
        };
        let offer = Offer {
            claim,
            room,
            is_called,
            reply,
        };
        (Message::Offer(offer), answer)
    }

    /// How many tasks each claim asks for.
    fn claims(offers: &mut Offers, messages: Vec<Message>) -> Vec<u32> {
        let jobs = offers.next_jobs(messages.into_iter());
        let claim = |job: &Job| match &job.write {
            Write::Claim(claim) => Some(claim.limit),
            _ => None,
        };
        jobs.iter().filter_map(claim).collect()
    }

    #[test]
    fn a_worker_claims_when_it_is_called_and_has_room() {
        let mut offers = Offers::default();
        let (first, _first) = offer(3, false);
        assert_eq!(claims(&mut offers, vec![first]), [0; 0]);
        let (full, busy) = offer(0, false);
        assert_eq!(claims(&mut offers, vec![Message::Look, full]), [3]);
        assert_eq!(offers.waiting.len(), 1);
        let (called, _called) = offer(2, true);
        assert_eq!(claims(&mut offers, vec![called]), [2]);
        drop(busy);
        let (gone, _) = offer(9, true);
        assert_eq!(claims(&mut offers, vec![gone, Message::Look]), [0; 0]);
        assert!(offers.waiting.is_empty());
    }

    #[test]
    fn a_worker_that_was_busy_follows_a_call_later() {
        let mut offers = Offers::default();
        let (busy, waits) = (Room::new(5), Room::new(7));
        let (other, _other) = offer_of(&waits);
        assert_eq!(claims(&mut offers, vec![other, Message::Look]), [7]);
        let (late, _late) = offer_of(&busy);
        assert_eq!(claims(&mut offers, vec![late]), [5]);
        for room in [&busy, &waits] {
            let (later, _later) = offer_of(room);
            assert_eq!(claims(&mut offers, vec![later]), [0; 0]);
        }
    }
}
