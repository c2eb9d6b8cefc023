//! The load of many calls on one server, below one service or a chain of them: calls arrive whether the server answers or
//! not, each attempt has a limit, and something happens to the server.

use std::iter::Cycle;
use std::ops::ControlFlow;
use std::slice;
use std::time::Duration;

use retry_runtime::Verdict;
use retry_runtime::driver::AttemptResult;
use retry_runtime::timer::{Clock as _, Timestamp};

use crate::calls::{Calls, Open};
use crate::client::Client;
use crate::clock::{Virtual, seconds};
use crate::engine::Agenda;
use crate::record::Record;
use crate::scene::{Arrivals, Kind, Scene, Service};
use crate::server::{Attempt, Job, Server};

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
    TimeOut(Attempt),
    Served(Job),
    Trigger,
    TriggerEnds,
    End,
}

/// Runs the scene; the calls go to the clients in turn.
pub fn run(scene: &Scene, clients: &[Client]) -> Record {
    run_chain(scene, &[Service::new(clients)])
}

/// Runs the scene below a chain of services: each calls the one after it, the last calls the server. Calls arrive at the
/// first.
pub fn run_chain(scene: &Scene, chain: &[Service<'_>]) -> Record {
    run_watched(scene, chain, |_| ControlFlow::Continue(()))
}

/// Events between two looks of who watches.
const UNWATCHED: u32 = 4096;

/// The same for somebody who `watch`es, after every so many events, and may break it off.
pub fn run_watched(
    scene: &Scene,
    chain: &[Service<'_>],
    mut watch: impl FnMut(Course) -> ControlFlow<()>,
) -> Record {
    let mut run = Run::new(scene, chain);
    let mut events = 0_u32;
    let is_empty = |service: &Service<'_>| service.clients.is_empty();
    if chain.is_empty() || chain.iter().any(is_empty) {
        return run.end();
    }
    while let Some(event) = run.agenda.next(&run.clock) {
        match event {
            Event::Arrival => run.arrival(),
            Event::Attempt { call } => run.attempt(call),
            Event::TimeOut(attempt) => run.time_out(attempt),
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

/// A service, and whose turn it is.
struct Turn<'c> {
    clients: Cycle<slice::Iter<'c, Client>>,
    keeps_protocol: bool,
}

struct Run<'s, 'c> {
    scene: &'s Scene,
    clock: Virtual,
    agenda: Agenda<Event>,
    server: Server,
    /// From one arrival to the next, in the mean.
    gap: Duration,
    chain: Vec<Turn<'c>>,
    calls: Calls<'c>,
    attempts: u64,
    /// The server returns errors.
    refusing: bool,
    record: Record,
}

impl<'s, 'c> Run<'s, 'c> {
    fn new(scene: &'s Scene, chain: &[Service<'c>]) -> Self {
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
            chain: chain.iter().map(Turn::new).collect(),
            calls: Calls::new(),
            attempts: 0,
            refusing: false,
            record: Record::new(),
        }
    }

    fn end(mut self) -> Record {
        let open = self
            .calls
            .all()
            .filter(|open| open.caller.is_none())
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
            Kind::Errors => self.refusing = on,
        }
    }

    fn arrival(&mut self) {
        let now = self.clock.elapsed();
        self.record.count(now, |second| &mut second.calls);
        if let Some(client) = self.turn(0) {
            let call = self.calls.begin(Open::new(client.call(&self.clock)));
            self.attempt(call);
        }

        let gap = match self.scene.arrivals {
            Arrivals::Regular => self.gap,
            Arrivals::Poisson => self.clock.exponential(self.gap),
        };
        self.agenda.plan(&self.clock, gap, Event::Arrival);
    }

    /// The process of the service whose turn it is.
    fn turn(&mut self, service: usize) -> Option<&'c Client> {
        self.chain.get_mut(service)?.clients.next()
    }

    /// Whether the protocol is kept between this service and the one above.
    fn shares_protocol(&self, service: usize) -> bool {
        let both = service.checked_sub(1).map(|above| above..=service);
        let both = both.and_then(|both| self.chain.get(both));
        both.is_some_and(|both| both.iter().all(|service| service.keeps_protocol))
    }

    fn attempt(&mut self, call: usize) {
        let Some(open) = self.calls.open(call) else {
            return;
        };
        match open.request.attempt(&self.clock) {
            None => return self.end_call(call, false),
            Some(Duration::ZERO) => {}
            Some(wait) => {
                let event = Event::Attempt { call };
                return self.agenda.plan(&self.clock, wait, event);
            }
        }
        open.attempt = open.attempt.saturating_add(1);
        open.is_waiting = true;
        let attempt = Attempt {
            call,
            number: open.attempt,
        };
        let limit = open.request.limit(self.scene.timeout, &self.clock);
        let expires = self.clock.now().after(limit);
        let below = open.service.saturating_add(1);
        if below < self.chain.len() {
            self.agenda
                .plan(&self.clock, limit, Event::TimeOut(attempt));
            self.call_below(attempt, expires);
            return;
        }

        let began = open.began;
        let now = self.clock.elapsed();
        self.record.count(now, |second| &mut second.attempts);
        self.record.count(began, |second| &mut second.made);
        self.attempts = self.attempts.saturating_add(1);
        if self.refusing {
            self.not_done(call, AttemptResult::Failed(Verdict::Transient));
            return;
        }
        self.server.accept(Job { attempt, expires });
        self.agenda
            .plan(&self.clock, limit, Event::TimeOut(attempt));
    }

    /// The service below serves this attempt, and begins a call of its own.
    fn call_below(&mut self, attempt: Attempt, expires: Timestamp) {
        let Some(caller) = self.calls.open(attempt.call) else {
            return;
        };
        let service = caller.service.saturating_add(1);
        let (began, known) = (caller.began, caller.known.in_request(attempt));
        let Some(client) = self.turn(service) else {
            return;
        };
        let mut open = Open::new(client.call(&self.clock));
        if self.shares_protocol(service) {
            open.request = open.request.until(expires).nested(known.has_used(service));
            open.known = known;
        }
        let call = self.calls.begin(Open {
            service,
            caller: Some(attempt),
            began,
            ..open
        });
        self.attempt(call);
    }

    fn time_out(&mut self, attempt: Attempt) {
        let Some(open) = self.calls.waiting(attempt) else {
            return;
        };
        let now = self.clock.elapsed();
        if open.caller.is_none() {
            self.record.last_timeout = Some(now);
            self.record.count(now, |second| &mut second.timed_out);
        }
        self.not_done(attempt.call, AttemptResult::TimedOut);
    }

    /// The attempt has failed: a delay follows, or the call ends.
    fn not_done(&mut self, call: usize, result: AttemptResult) {
        let Some(open) = self.calls.open(call) else {
            return;
        };
        open.is_waiting = false;
        match open.request.failed(result, &self.clock) {
            Some(delay) => {
                let event = Event::Attempt { call };
                self.agenda.plan(&self.clock, delay, event);
            }
            None => self.end_call(call, false),
        }
    }

    fn served(&mut self, job: Job) {
        self.server.end();
        if !self.calls.is_awaited(job.attempt) {
            let now = self.clock.elapsed();
            self.record.count(now, |second| &mut second.wasted);
        }
        if self.calls.waiting(job.attempt).is_some() {
            self.end_call(job.attempt.call, true);
        }
    }

    /// The call is over; the attempt above that waits for it is, too.
    fn end_call(&mut self, call: usize, well: bool) {
        let Some(open) = self.calls.end(call) else {
            return;
        };
        let now = self.clock.elapsed();
        if open.caller.is_none() {
            self.record.times.push(open.request.elapsed(&self.clock));
            self.record.ended(open.request.is_low(), well);
            self.record.count(now, |second| {
                if well {
                    &mut second.succeeded
                } else {
                    &mut second.failed
                }
            });
        }
        let (is_shared, used) = (self.shares_protocol(open.service), open.used());
        if well {
            open.request.succeeded(&self.clock);
        }
        let Some(caller) = open.caller else { return };
        // Its answer comes too late where that attempt has timed out.
        let Some(above) = self.calls.waiting(caller) else {
            return;
        };
        if well {
            self.end_call(caller.call, true);
            return;
        }
        if is_shared {
            above.known.used |= used;
        }
        self.not_done(caller.call, AttemptResult::Failed(Verdict::Transient));
    }

    fn serve(&mut self) {
        if let Some(job) = self.server.begin(self.clock.now()) {
            let event = Event::Served(job);
            self.agenda.plan(&self.clock, self.server.service(), event);
        }
    }
}

impl<'c> Turn<'c> {
    fn new(service: &Service<'c>) -> Self {
        Self {
            clients: service.clients.iter().cycle(),
            keeps_protocol: service.keeps_protocol,
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
