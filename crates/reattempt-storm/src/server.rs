//! A server: one queue, first come, first served, and so many requests a second.

use std::collections::VecDeque;
use std::time::Duration;

use retry_runtime::timer::Timestamp;

/// What a server does with a request that nobody waits for any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    /// It serves it: it does not know.
    Served,
    /// It throws it away when its turn comes, which takes no time: the request carries its deadline, and less than a
    /// request takes is left.
    Dropped,
}

/// One attempt of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) call: usize,
    /// From 1.
    pub(crate) number: u32,
}

/// A request in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Job {
    /// The attempt that waits for it.
    pub(crate) attempt: Attempt,
    /// When the client turns away.
    pub(crate) expires: Timestamp,
}

/// A server with its queue.
#[derive(Debug)]
pub struct Server {
    service: Duration,
    stale: Stale,
    queue: VecDeque<Job>,
    busy: bool,
    down: bool,
}

impl Server {
    /// A server that takes `service` for each request.
    pub const fn new(service: Duration, stale: Stale) -> Self {
        Self {
            service,
            stale,
            queue: VecDeque::new(),
            busy: false,
            down: false,
        }
    }

    /// The time one request takes.
    pub const fn service(&self) -> Duration {
        self.service
    }

    /// From here on a request takes `service`; the one that was begun takes what it took.
    pub const fn takes(&mut self, service: Duration) {
        self.service = service;
    }

    /// Requests that wait for their turn.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// A request arrives. Also in an outage: what stands still is behind the queue.
    pub(crate) fn accept(&mut self, job: Job) {
        self.queue.push_back(job);
    }

    /// From here on nothing is begun.
    pub const fn stop(&mut self) {
        self.down = true;
    }

    /// The outage is over.
    pub const fn go_on(&mut self) {
        self.down = false;
    }

    /// The request whose turn it is, if the server is free: it is done one [`service`](Self::service) from now.
    pub(crate) fn begin(&mut self, now: Timestamp) -> Option<Job> {
        if self.busy || self.down {
            return None;
        }
        let dropping = self.stale == Stale::Dropped;
        let job = loop {
            let job = self.queue.pop_front()?;
            if !(dropping && job.expires < now.after(self.service)) {
                break job;
            }
        };
        self.busy = true;
        Some(job)
    }

    /// The request that was begun is done.
    pub const fn end(&mut self) {
        self.busy = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::START;

    fn job(call: usize, expires: u64) -> Job {
        let expires = START.after(Duration::from_secs(expires));
        let attempt = Attempt { call, number: 1 };
        Job { attempt, expires }
    }

    fn calls_begun(stale: Stale) -> Vec<usize> {
        let mut server = Server::new(Duration::from_millis(1), stale);
        for (call, expires) in [(0, 1), (1, 9), (2, 2), (3, 9)] {
            server.accept(job(call, expires));
        }
        let now = START.after(Duration::from_secs(2));
        let mut begun = Vec::new();
        while let Some(job) = server.begin(now) {
            assert_eq!(server.begin(now), None, "one at a time");
            server.end();
            begun.push(job.attempt.call);
        }
        begun
    }

    #[test]
    fn stale_requests_are_served_or_dropped() {
        assert_eq!(calls_begun(Stale::Served), [0, 1, 2, 3]);
        assert_eq!(calls_begun(Stale::Dropped), [1, 3]);
    }

    #[test]
    fn an_outage_keeps_the_queue() {
        let mut server = Server::new(Duration::from_millis(1), Stale::Served);
        server.stop();
        server.accept(job(0, 1));
        assert_eq!(server.begin(START), None);
        assert_eq!(server.waiting(), 1);
        server.go_on();
        assert_eq!(server.begin(START), Some(job(0, 1)));
    }
}
