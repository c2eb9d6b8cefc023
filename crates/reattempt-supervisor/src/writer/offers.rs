//! Workers that wait for tasks: how many seats are free, and when a claim makes sense.

use tokio::sync::mpsc;

use super::job::{Job, Reply, ReplyTo};
use super::seats::Seats;
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
    use std::sync::Arc;

    use crate::store::StoreError;
    use crate::store::WriteResult;
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
