//! The load of many calls on one server, second by second: calls arrive whether the server answers or
//! not, each attempt has a time-out, and there may be an outage.

use std::ops::Range;
use std::time::Duration;

use retry_runtime::Verdict;
use retry_runtime::budget::Class;
use retry_runtime::timer::Clock as _;

use crate::client::{Client, Request};
use crate::clock::{Virtual, seconds};
use crate::engine::Agenda;
use crate::server::{Job, Server, Stale};

/// When calls arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// In even steps.
    Regular,
    /// Independently of each other.
    Poisson,
}

/// A server, what arrives at it, and what happens to it.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Calls that arrive in a second.
    pub calls: f64,
    /// How they arrive.
    pub arrivals: Arrivals,
    /// Requests that the server can serve in a second.
    pub capacity: f64,
    /// What it does with stale ones.
    pub stale: Stale,
    /// The limit of each attempt.
    pub timeout: Duration,
    /// When the server stands still, in seconds from the start.
    pub outage: Range<u32>,
    /// When the run ends, in seconds from the start.
    pub end: u32,
    /// Of the random numbers.
    pub seed: u64,
}

/// What happened in one second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Second {
    /// Calls that arrived.
    pub calls: u32,
    /// Attempts that the server got.
    pub attempts: u32,
    /// Calls that succeeded.
    pub succeeded: u32,
    /// Attempts that timed out.
    pub timed_out: u32,
}

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Record {
    /// Second by second.
    pub seconds: Vec<Second>,
    /// When the last attempt timed out.
    pub last_timeout: Option<Duration>,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Arrival,
    Attempt { call: usize },
    TimeOut { call: usize, attempt: u32 },
    Served(Job),
    Outage,
    OutageEnds,
    End,
}

/// Runs the scene; the calls go to the clients in turn.
pub fn run(scene: &Scene, clients: &[Client]) -> Record {
    let mut run = Run::new(scene);
    let mut turn = clients.iter().cycle();
    while let Some(event) = run.agenda.next(&run.clock) {
        match event {
            Event::Arrival => {
                let Some(client) = turn.next() else { break };
                run.arrival(client);
            }
            Event::Attempt { call } => run.attempt(call),
            Event::TimeOut { call, attempt } => run.time_out(call, attempt),
            Event::Served(job) => run.served(job),
            Event::Outage => run.server.stop(),
            Event::OutageEnds => run.server.go_on(),
            Event::End => break,
        }
        run.serve();
    }
    run.record
}

/// A call that is not over, and the number of its attempt.
type Open<'c> = (Request<'c>, u32);

struct Run<'s, 'c> {
    scene: &'s Scene,
    clock: Virtual,
    agenda: Agenda<Event>,
    server: Server,
    /// By the number of the call; nothing where it is over.
    calls: Vec<Option<Open<'c>>>,
    record: Record,
}

impl<'s, 'c> Run<'s, 'c> {
    fn new(scene: &'s Scene) -> Self {
        let clock = Virtual::new(scene.seed);
        let mut agenda = Agenda::new();
        for (second, event) in [
            (scene.outage.start, Event::Outage),
            (scene.outage.end, Event::OutageEnds),
            (scene.end, Event::End),
            (0, Event::Arrival),
        ] {
            agenda.plan(&clock, Duration::from_secs(second.into()), event);
        }
        Self {
            scene,
            clock,
            agenda,
            server: Server::new(seconds(scene.capacity.recip()), scene.stale),
            calls: Vec::new(),
            record: Record {
                seconds: Vec::new(),
                last_timeout: None,
            },
        }
    }

    fn arrival(&mut self, client: &'c Client) {
        self.count(|second| &mut second.calls);
        let call = self.calls.len();
        self.calls.push(Some((client.call(&self.clock), 0)));
        self.attempt(call);

        let gap = seconds(self.scene.calls.recip());
        let gap = match self.scene.arrivals {
            Arrivals::Regular => gap,
            Arrivals::Poisson => self.clock.exponential(gap),
        };
        self.agenda.plan(&self.clock, gap, Event::Arrival);
    }

    fn attempt(&mut self, call: usize) {
        let Some(slot) = self.calls.get_mut(call) else {
            return;
        };
        let Some((request, attempt)) = slot else {
            return;
        };
        if !request.attempt(&self.clock) {
            *slot = None;
            return;
        }
        *attempt = attempt.saturating_add(1);
        let attempt = *attempt;

        let timeout = self.scene.timeout;
        let expires = self.clock.now().after(timeout);
        self.server.accept(Job {
            call,
            attempt,
            expires,
        });
        let event = Event::TimeOut { call, attempt };
        self.agenda.plan(&self.clock, timeout, event);
        self.count(|second| &mut second.attempts);
    }

    fn time_out(&mut self, call: usize, attempt: u32) {
        let Some(slot) = waiting(&mut self.calls, call, attempt) else {
            return;
        };
        let Some((request, _)) = slot else {
            return;
        };
        self.record.last_timeout = Some(self.clock.elapsed());
        match request.failed(Verdict::Transient, Class::TimedOut, &self.clock) {
            Some(delay) => self
                .agenda
                .plan(&self.clock, delay, Event::Attempt { call }),
            None => *slot = None,
        }
        self.count(|second| &mut second.timed_out);
    }

    fn served(&mut self, job: Job) {
        self.server.end();
        // Else its client has gone.
        if let Some(slot) = waiting(&mut self.calls, job.call, job.attempt)
            && let Some((request, _)) = slot.take()
        {
            request.succeeded(&self.clock);
            self.count(|second| &mut second.succeeded);
        }
    }

    fn serve(&mut self) {
        if let Some(job) = self.server.begin(self.clock.now()) {
            let event = Event::Served(job);
            self.agenda.plan(&self.clock, self.server.service(), event);
        }
    }

    /// One more of what `which` names, in this second.
    fn count(&mut self, which: impl FnOnce(&mut Second) -> &mut u32) {
        let seconds = &mut self.record.seconds;
        let now = usize::try_from(self.clock.elapsed().as_secs()).unwrap_or(usize::MAX);
        if seconds.len() <= now && now < usize::MAX {
            seconds.resize(now.saturating_add(1), Second::default());
        }
        if let Some(second) = seconds.get_mut(now) {
            let number = which(second);
            *number = number.saturating_add(1);
        }
    }
}

/// The call, if it waits for this attempt.
fn waiting<'a, 'c>(
    calls: &'a mut [Option<Open<'c>>],
    call: usize,
    attempt: u32,
) -> Option<&'a mut Option<Open<'c>>> {
    let slot = calls.get_mut(call)?;
    let current = slot.as_ref()?.1;
    (current == attempt).then_some(slot)
}

#[cfg(test)]
mod tests;
