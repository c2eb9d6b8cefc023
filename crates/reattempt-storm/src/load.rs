//! The load of many calls on one server: calls arrive whether the server answers or not, each attempt
//! has a limit, and something happens to the server.

use std::ops::ControlFlow;
use std::time::Duration;

#[cfg(test)]
use retry_runtime::Verdict;
use retry_runtime::private::AttemptResult;
use retry_runtime::timer::Clock as _;

use crate::calls::Calls;
use crate::client::Client;
use crate::clock::{Virtual, seconds};
use crate::engine::Agenda;
use crate::record::Record;
use crate::scene::{Arrivals, Kind, Scene};
use crate::server::{Job, Server};

/// How far a run has come.
#[derive(Debug, Clone, Copy)]
pub struct Course {
    /// Since its start, in its own time.
    pub elapsed: Duration,
    /// Attempts that the server got so far.
    pub attempts: u64,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Arrival,
    Attempt { call: usize },
    TimeOut { call: usize, attempt: u32 },
    Served(Job),
    Trigger,
    TriggerEnds,
    End,
}

/// Runs the scene; the calls go to the clients in turn.
pub fn run(scene: &Scene, clients: &[Client]) -> Record {
    run_watched(scene, clients, |_| ControlFlow::Continue(()))
}

/// Events between two looks of who watches.
const UNWATCHED: u32 = 4096;

/// The same for somebody who `watch`es, after every so many events, and may break it off.
pub fn run_watched(
    scene: &Scene,
    clients: &[Client],
    mut watch: impl FnMut(Course) -> ControlFlow<()>,
) -> Record {
    let mut run = Run::new(scene);
    let mut turn = clients.iter().cycle();
    let mut events = 0_u32;
    while let Some(event) = run.agenda.next(&run.clock) {
        match event {
            Event::Arrival => {
                let Some(client) = turn.next() else { break };
                run.arrival(client);
            }
            Event::Attempt { call } => run.attempt(call),
            Event::TimeOut { call, attempt } => run.time_out(call, attempt),
            Event::Served(job) => run.served(job),
            Event::Trigger => run.trigger(true),
            Event::TriggerEnds => run.trigger(false),
            Event::End => break,
        }
        run.serve();
        events = events.wrapping_add(1);
        if events.is_multiple_of(UNWATCHED) && watch(run.course()).is_break() {
            break;
        }
    }
    run.end()
}

struct Run<'s, 'c> {
    scene: &'s Scene,
    clock: Virtual,
    agenda: Agenda<Event>,
    server: Server,
    /// From one arrival to the next, in the mean.
    gap: Duration,
    calls: Calls<'c>,
    attempts: u64,
    /// The server returns errors.
    #[cfg(test)]
    refusing: bool,
    record: Record,
}

impl<'s, 'c> Run<'s, 'c> {
    fn new(scene: &'s Scene) -> Self {
        let clock = Virtual::new(scene.seed);
        let mut agenda = Agenda::new();
        for (delay, event) in [
            (scene.trigger.time.start, Event::Trigger),
            (scene.trigger.time.end, Event::TriggerEnds),
            (scene.end, Event::End),
            (Duration::ZERO, Event::Arrival),
        ] {
            agenda.plan(&clock, delay, event);
        }
        Self {
            scene,
            clock,
            agenda,
            server: Server::new(each(scene.capacity), scene.stale),
            gap: each(scene.calls),
            calls: Calls::new(),
            attempts: 0,
            #[cfg(test)]
            refusing: false,
            record: Record::new(),
        }
    }

    fn end(mut self) -> Record {
        let open = self
            .calls
            .all()
            .map(|open| open.request.elapsed(&self.clock));
        self.record.open = open.collect();
        self.record.end(self.clock.elapsed());
        self.record
    }

    fn course(&self) -> Course {
        Course {
            elapsed: self.clock.elapsed(),
            attempts: self.attempts,
        }
    }

    /// It begins, or it is over.
    fn trigger(&mut self, on: bool) {
        match self.scene.trigger.kind {
            Kind::Outage if on => self.server.stop(),
            Kind::Outage => self.server.go_on(),
            Kind::Slowdown(_) if on => self.server.takes(each(self.scene.capacity_meanwhile())),
            Kind::Slowdown(_) => self.server.takes(each(self.scene.capacity)),
            Kind::Burst(_) if on => self.gap = each(self.scene.calls_meanwhile()),
            Kind::Burst(_) => self.gap = each(self.scene.calls),
            #[cfg(test)]
            Kind::Errors => self.refusing = on,
        }
    }

    fn arrival(&mut self, client: &'c Client) {
        let now = self.clock.elapsed();
        self.record.count(now, |second| &mut second.calls);
        let call = self.calls.begin(client.call(&self.clock));
        self.attempt(call);

        let gap = match self.scene.arrivals {
            Arrivals::Regular => self.gap,
            Arrivals::Poisson => self.clock.exponential(self.gap),
        };
        self.agenda.plan(&self.clock, gap, Event::Arrival);
    }

    fn attempt(&mut self, call: usize) {
        let Some(open) = self.calls.open(call) else {
            return;
        };
        if !open.request.attempt(&self.clock) {
            self.failed(call);
            return;
        }
        open.attempt = open.attempt.saturating_add(1);
        let attempt = open.attempt;

        let began = open.request.began();
        let now = self.clock.elapsed();
        self.record.count(now, |second| &mut second.attempts);
        self.record.count(began, |second| &mut second.made);
        self.attempts = self.attempts.saturating_add(1);
        #[cfg(test)]
        if self.refusing {
            self.not_done(call, AttemptResult::Failed(Verdict::Transient));
            return;
        }

        let limit = open.request.limit(self.scene.timeout, &self.clock);
        let expires = self.clock.now().after(limit);
        self.server.accept(Job {
            call,
            attempt,
            expires,
        });
        let event = Event::TimeOut { call, attempt };
        self.agenda.plan(&self.clock, limit, event);
    }

    fn time_out(&mut self, call: usize, attempt: u32) {
        if self.calls.waiting(call, attempt).is_none() {
            return;
        }
        let now = self.clock.elapsed();
        self.record.last_timeout = Some(now);
        self.record.count(now, |second| &mut second.timed_out);
        self.not_done(call, AttemptResult::TimedOut);
    }

    /// The attempt has failed: a delay follows, or the call ends.
    fn not_done(&mut self, call: usize, result: AttemptResult) {
        let Some(open) = self.calls.open(call) else {
            return;
        };
        match open.request.failed(result, &self.clock) {
            Some(delay) => {
                let event = Event::Attempt { call };
                self.agenda.plan(&self.clock, delay, event);
            }
            None => self.failed(call),
        }
    }

    fn failed(&mut self, call: usize) {
        let now = self.clock.elapsed();
        if let Some(open) = self.calls.end(call) {
            self.record.times.push(open.request.elapsed(&self.clock));
            self.record.ended(open.request.is_low(), false);
            self.record.count(now, |second| &mut second.failed);
        }
    }

    fn served(&mut self, job: Job) {
        self.server.end();
        let now = self.clock.elapsed();
        if self.calls.waiting(job.call, job.attempt).is_none() {
            self.record.count(now, |second| &mut second.wasted);
        } else if let Some(open) = self.calls.end(job.call) {
            self.record.times.push(open.request.elapsed(&self.clock));
            self.record.ended(open.request.is_low(), true);
            open.request.succeeded(&self.clock);
            self.record.count(now, |second| &mut second.succeeded);
        }
    }

    fn serve(&mut self) {
        if let Some(job) = self.server.begin(self.clock.now()) {
            let event = Event::Served(job);
            self.agenda.plan(&self.clock, self.server.service(), event);
        }
    }
}

/// The time that each of so many a second has; for ever where there is none. Never 0, so that time goes by.
fn each(a_second: f64) -> Duration {
    if a_second > 0.0 {
        seconds(a_second.recip()).max(Duration::from_nanos(1))
    } else {
        Duration::MAX
    }
}

#[cfg(test)]
mod tests;
