//! Workers that wait for tasks: how many seats are free, and when a claim makes sense.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::mpsc;

use super::job::{Job, Reply, ReplyTo};
use crate::store::{Claim, Write, WriteResult};

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

/// The seats of a worker: how many more tasks it can run. They are closed at first.
#[derive(Debug, Clone)]
pub(crate) struct Seats(Arc<SeatState>);

#[derive(Debug)]
struct SeatState {
    // Only the writer takes seats, after each claim and before the next one. Workers only give them
    // back. So no claim gets more tasks than there are seats, and no memory order is needed.
    left: AtomicUsize,
    is_open: AtomicBool,
    /// Whether there may be a task that no claim has looked for.
    is_called: AtomicBool,
    /// How many seats the last claim offered.
    offered: AtomicUsize,
}

impl Seats {
    pub(crate) fn new(tasks: usize) -> Self {
        Self(Arc::new(SeatState {
            left: AtomicUsize::new(tasks),
            is_open: AtomicBool::new(false),
            is_called: AtomicBool::new(true),
            offered: AtomicUsize::new(0),
        }))
    }

    /// Lets claims take the seats. Returns whether they were closed.
    pub(crate) fn open(&self) -> bool {
        !self.0.is_open.swap(true, Ordering::Relaxed)
    }

    /// Lets no claim begin.
    pub(crate) fn close(&self) {
        self.0.is_open.store(false, Ordering::Relaxed);
    }

    /// Returns whether the worker can run no more tasks.
    pub(crate) fn is_full(&self) -> bool {
        self.0.left.load(Ordering::Relaxed) == 0
    }

    fn take(&self, tasks: usize) {
        self.0.left.fetch_sub(tasks, Ordering::Relaxed);
    }

    /// Returns the seat of a claimed task.
    pub(crate) fn seat(&self) -> Seat {
        Seat(self.clone())
    }

    /// Notes that there may be something to claim.
    fn call(&self) {
        self.0.is_called.store(true, Ordering::Relaxed);
    }

    /// Returns how many tasks to claim now.
    fn offer(&self) -> Option<u32> {
        let left = self.0.left.load(Ordering::Relaxed);
        let is_ready = left > 0 && self.0.is_open.load(Ordering::Relaxed);
        // Each claim costs a statement, and finds nothing before a task is stored or wakes up. A
        // call that comes too early stays for when the worker is ready.
        if !is_ready || !self.0.is_called.swap(false, Ordering::Relaxed) {
            return None;
        }
        self.0.offered.store(left, Ordering::Relaxed);
        Some(u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// Takes the seats for the tasks of a claim. Closes the seats if it is unknown whether the claim took
    /// place.
    pub(super) fn settle(&self, reply: &Reply) {
        let Ok(WriteResult::Claimed(claimed, _)) = reply else {
            // The claim may still take place, and needs its seats then. The worker opens them after
            // a heartbeat that has listed what it holds.
            self.close();
            return self.call();
        };
        self.take(claimed.len());
        // A full claim may have left tasks behind; any other one has taken all that were ready.
        if claimed.len() >= self.0.offered.load(Ordering::Relaxed) {
            self.call();
        }
    }
}

/// The seat of one task until this is dropped.
#[derive(Debug)]
pub(crate) struct Seat(Seats);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.0.left.fetch_add(1, Ordering::Relaxed);
    }
}

/// A worker that waits for tasks. Its claim goes into the transaction that stores one. A claim of a suspect is
/// made once.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) claim: Claim,
    pub(super) seats: Seats,
    pub(super) replies: mpsc::UnboundedSender<Reply>,
}

impl Offer {
    /// Returns the claim of so many tasks.
    fn job(&self, limit: u32) -> Job {
        let claim = Claim {
            limit,
            ..self.claim.clone()
        };
        Job {
            write: Write::Claim(claim),
            reply: ReplyTo::Worker(self.replies.clone(), self.seats.clone()),
        }
    }
}

/// All workers that wait for tasks.
#[derive(Debug, Default)]
pub(super) struct Offers(Vec<Offer>);

impl Offers {
    /// Returns the jobs of the next transaction: writes in their order, then the claims of workers
    /// with free seats.
    pub(super) fn next_jobs(&mut self, messages: impl Iterator<Item = Message>) -> Vec<Job> {
        let mut jobs = Vec::new();
        let mut is_called = false;
        for message in messages {
            match message {
                Message::Job(job) => {
                    is_called |= job.write.may_add_work();
                    jobs.push(job);
                }
                Message::Offer(offer) if offer.claim.suspects.is_some() => {
                    // What was claimed before may have taken the seats.
                    if !offer.seats.is_full() {
                        jobs.push(offer.job(1));
                    }
                }
                // The offer stands until it is withdrawn. If the worker had to offer again after
                // each claim, its offer would come too late for the next transaction.
                Message::Offer(offer) => self.0.push(offer),
                Message::Look => is_called = true,
            }
        }
        self.0.retain(|offer| !offer.replies.is_closed());
        for offer in &self.0 {
            if is_called {
                offer.seats.call();
            }
            jobs.extend(offer.seats.offer().map(|limit| offer.job(limit)));
        }
        jobs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreError;
    use crate::task::WorkerId;

    fn offer(seats: &Seats) -> (Message, mpsc::UnboundedReceiver<Reply>) {
        let (replies, answers) = mpsc::unbounded_channel();
        let claim = Claim {
            worker: WorkerId("one".to_owned()),
            queues: Vec::new(),
            workflows: Vec::new(),
            limit: 0,
            suspects: None,
        };
        let seats = seats.clone();
        let offer = Offer {
            claim,
            seats,
            replies,
        };
        (Message::Offer(offer), answers)
    }

    fn open(tasks: usize) -> Seats {
        let seats = Seats::new(tasks);
        assert!(seats.open());
        seats
    }

    /// How many tasks each claim asks for. The claims find nothing.
    fn claims(offers: &mut Offers, messages: Vec<Message>) -> Vec<u32> {
        let jobs = offers.next_jobs(messages.into_iter());
        let claims = jobs.into_iter().filter_map(|job| match &job.write {
            Write::Claim(claim) => Some((claim.limit, job.reply)),
            _ => None,
        });
        let limit = |(limit, reply): (u32, ReplyTo)| {
            reply.send(Ok(WriteResult::Claimed(Vec::new(), None)));
            limit
        };
        claims.map(limit).collect()
    }

    #[test]
    fn an_offer_stands_until_it_is_dropped() {
        let mut offers = Offers::default();
        let seats = open(3);
        let (first, answers) = offer(&seats);
        // No claim has looked before.
        assert_eq!(claims(&mut offers, vec![first]), [3]);
        assert_eq!(claims(&mut offers, vec![]), [0; 0]);
        let (second, _answers) = offer(&open(2));
        assert_eq!(claims(&mut offers, vec![second]), [2]);
        assert_eq!(claims(&mut offers, vec![Message::Look]), [3, 2]);
        drop(answers);
        assert_eq!(claims(&mut offers, vec![Message::Look]), [2]);
    }

    #[test]
    fn a_worker_that_was_full_or_closed_follows_a_call_later() {
        let mut offers = Offers::default();
        let (full, closed) = (open(1), Seats::new(7));
        full.take(1);
        let seat = full.seat();
        let (one, _one) = offer(&full);
        let (two, _two) = offer(&closed);
        assert_eq!(claims(&mut offers, vec![one, two, Message::Look]), [0; 0]);
        drop(seat);
        assert_eq!(claims(&mut offers, vec![]), [1]);
        assert!(closed.open());
        assert!(!closed.open());
        assert_eq!(claims(&mut offers, vec![]), [7]);
        assert_eq!(claims(&mut offers, vec![]), [0; 0]);
    }

    #[test]
    fn no_claim_begins_while_nobody_knows_of_the_last() {
        let mut offers = Offers::default();
        let seats = open(4);
        let (standing, mut answers) = offer(&seats);
        let mut jobs = offers.next_jobs(std::iter::once(standing));
        let unknown = Err(Arc::new(StoreError::passing("the connection is lost")));
        jobs.pop().expect("a claim").reply.send(unknown);
        assert!(answers.try_recv().expect("its result").is_err());
        assert_eq!(claims(&mut offers, vec![Message::Look]), [0; 0]);
        assert!(seats.open());
        assert_eq!(claims(&mut offers, vec![]), [4]);
    }
}
