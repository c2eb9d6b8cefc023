//! The service that all calls go to: some of its requests fail, and it counts them.

use std::cell::Cell;
use std::rc::Rc;
use std::task::Poll;

use reattempt::{Classify, GaveUp, Verdict};

use crate::clock::{Local, at_most, ms, pass};

pub(crate) type Answer = Result<(), Fault>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Down,
    GaveUp(GaveUp),
}

impl Classify for Fault {
    fn classify(&self) -> Verdict {
        Verdict::Transient
    }
}

impl From<GaveUp> for Fault {
    fn from(end: GaveUp) -> Self {
        Self::GaveUp(end)
    }
}

/// What requests meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    /// Every second request fails.
    Flaky,
    /// All requests fail: in the poll that asks, in a later one, or after some time.
    Dead(When),
    /// The first request fails, and no other ends.
    Hangs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    AtOnce,
    NextPoll,
    Later,
}

#[derive(Debug)]
pub(crate) struct Service {
    health: Health,
    sessions: Cell<u32>,
    requests: Cell<u32>,
}

impl Service {
    pub(crate) fn new(health: Health) -> Rc<Self> {
        Rc::new(Self {
            health,
            sessions: Cell::new(0),
            requests: Cell::new(0),
        })
    }

    /// How often a session was begun.
    pub(crate) fn sessions(&self) -> u32 {
        self.sessions.get()
    }

    pub(crate) fn requests(&self) -> u32 {
        self.requests.get()
    }

    /// Begins a session, and returns how many there were.
    pub(crate) fn begins(&self) -> u32 {
        self.sessions.set(self.sessions() + 1);
        self.sessions()
    }

    /// Begins a session, which connects. The first one cannot, and learns so after some time.
    pub(crate) async fn connect(&self) -> Answer {
        let is_first = self.begins() == 1;
        pass(ms(5) + at_most(ms(20))).await;
        if is_first { Err(Fault::Down) } else { Ok(()) }
    }

    pub(crate) async fn request(&self) -> Answer {
        let answer = self.request_blocking();
        match self.health {
            Health::Hangs if self.requests() > 1 => std::future::pending().await,
            Health::Dead(When::AtOnce) => {}
            Health::Dead(When::NextPoll) => yield_once().await,
            _ => pass(ms(1) + at_most(ms(3))).await,
        }
        answer
    }

    pub(crate) fn request_blocking(&self) -> Answer {
        self.requests.set(self.requests.get() + 1);
        let is_up = self.health == Health::Flaky && self.requests().is_multiple_of(2);
        if is_up { Ok(()) } else { Err(Fault::Down) }
    }
}

/// Lets every other branch and task have its turn.
async fn yield_once() {
    let mut is_over = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut is_over, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// One call of a stack of operations, each of which calls the next; the last one asks the service.
#[derive(Debug, Clone)]
pub(crate) struct Stack {
    pub(crate) service: Rc<Service>,
    below: Rc<[Operation]>,
}

/// An operation in one of its forms.
pub(crate) type Operation = fn(Stack) -> Local<Answer>;

impl Stack {
    /// Calls the first of these operations, which finds the others in its stack.
    pub(crate) fn call(service: &Rc<Service>, operations: &[Operation]) -> Local<Answer> {
        let service = Rc::clone(service);
        match operations {
            [first, below @ ..] => first(Self {
                service,
                below: below.into(),
            }),
            [] => Box::pin(async move { service.request().await }),
        }
    }

    /// Calls the operation below, or asks the service.
    pub(crate) fn next(&self) -> Local<Answer> {
        Self::call(&self.service, &self.below)
    }
}

/// The same of sync operations.
#[derive(Debug, Clone)]
pub(crate) struct BlockingStack {
    service: Rc<Service>,
    below: Rc<[BlockingOperation]>,
}

pub(crate) type BlockingOperation = fn(&BlockingStack) -> Answer;

impl BlockingStack {
    pub(crate) fn call(service: &Rc<Service>, operations: &[BlockingOperation]) -> Answer {
        let service = Rc::clone(service);
        match operations {
            [first, below @ ..] => first(&Self {
                service,
                below: below.into(),
            }),
            [] => service.request_blocking(),
        }
    }

    pub(crate) fn next(&self) -> Answer {
        Self::call(&self.service, &self.below)
    }
}
