//! What a run is about: how many calls arrive, what the server can do, and what happens to it.

use std::ops::Range;
use std::time::Duration;

use crate::client::Client;
use crate::server::Stale;

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
    /// Calls that arrive in a second; at 0 none does but the first.
    pub calls: f64,
    /// How they arrive.
    pub arrivals: Arrivals,
    /// Requests that the server can serve in a second; at 0 it serves none.
    pub capacity: f64,
    /// What it does with stale ones.
    pub stale: Stale,
    /// The limit of each attempt, where the policy has none.
    pub timeout: Duration,
    /// What happens to it.
    pub trigger: Trigger,
    /// When the run ends.
    pub end: Duration,
    /// Of the random numbers.
    pub seed: u64,
}

/// What happens to a server for a while.
#[derive(Debug, Clone, PartialEq)]
pub struct Trigger {
    /// What it is.
    pub kind: Kind,
    /// From when until when it lasts; an empty range is none at all.
    pub time: Range<Duration>,
}

/// The kinds of triggers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// The server stands still. What arrives waits in its queue.
    Outage,
    /// The server has this part of its capacity.
    Slowdown(f64),
    /// So many times as many calls arrive.
    Burst(f64),
    /// The server returns an error at once.
    Errors,
}

impl Trigger {
    /// The server stands still between these seconds.
    pub const fn outage(seconds: Range<u64>) -> Self {
        Self::between(Kind::Outage, seconds)
    }

    /// This happens between these seconds.
    pub const fn between(kind: Kind, seconds: Range<u64>) -> Self {
        Self {
            kind,
            time: Duration::from_secs(seconds.start)..Duration::from_secs(seconds.end),
        }
    }
}

impl Scene {
    /// What arrives in a second while the trigger lasts.
    pub fn calls_meanwhile(&self) -> f64 {
        match self.trigger.kind {
            Kind::Burst(times) => self.calls * times,
            Kind::Outage | Kind::Slowdown(_) | Kind::Errors => self.calls,
        }
    }

    /// What the server can serve in a second while the trigger lasts.
    pub fn capacity_meanwhile(&self) -> f64 {
        match self.trigger.kind {
            Kind::Outage | Kind::Errors => 0.0,
            Kind::Slowdown(part) => self.capacity * part,
            Kind::Burst(_) => self.capacity,
        }
    }
}

/// A service of a chain, whose processes retry what they call: the service below, or the server.
#[derive(Debug, Clone, Copy)]
pub struct Service<'c> {
    /// Its processes. The calls go to them in turn.
    pub clients: &'c [Client],
    /// Whether it keeps the retry protocol: with its callers, and with what it calls.
    pub keeps_protocol: bool,
}

impl<'c> Service<'c> {
    /// A service that retries by itself.
    pub const fn new(clients: &'c [Client]) -> Self {
        Self {
            clients,
            keeps_protocol: false,
        }
    }

    /// A service that keeps the retry protocol.
    pub const fn with_protocol(clients: &'c [Client]) -> Self {
        Self {
            clients,
            keeps_protocol: true,
        }
    }
}
