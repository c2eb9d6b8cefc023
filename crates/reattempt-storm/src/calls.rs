//! The calls of a run that are not over, by their number: those that are over make room.

use std::collections::VecDeque;
use std::time::Duration;

use crate::client::Request;
use crate::server::Attempt;

/// A call that is not over.
#[derive(Debug)]
pub(crate) struct Open<'c> {
    pub(crate) request: Request<'c>,
    /// The number of the attempt that is under way, or of the one before the delay.
    pub(crate) attempt: u32,
    /// That attempt is under way.
    pub(crate) is_waiting: bool,
    /// The number of its service, from the top.
    pub(crate) service: usize,
    /// The call of the service above, and which attempt of it waits for this one.
    pub(crate) caller: Option<Attempt>,
    /// When the call at the top began.
    pub(crate) began: Duration,
    /// What it knows by the retry protocol.
    pub(crate) known: Known,
}

impl<'c> Open<'c> {
    /// A call at the top.
    pub(crate) fn new(request: Request<'c>) -> Self {
        Self {
            began: request.began(),
            request,
            attempt: 0,
            is_waiting: false,
            service: 0,
            caller: None,
            known: Known::default(),
        }
    }

    /// What its answer says of services that used up their retries: those that it knows of, and its own.
    pub(crate) const fn used(&self) -> u64 {
        if self.request.has_used_up() {
            self.known.used | bit(self.service)
        } else {
            self.known.used
        }
    }
}

/// What a call knows by the retry protocol.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known {
    /// A call above is in a retry.
    pub(crate) in_a_retry: bool,
    /// The services that used up their retries: a bit for each.
    pub(crate) used: u64,
}

impl Known {
    /// What the request of this attempt says: of a first attempt, nothing.
    pub(crate) fn in_request(self, attempt: Attempt) -> Self {
        if self.in_a_retry || attempt.number > 1 {
            let in_a_retry = true;
            Self { in_a_retry, ..self }
        } else {
            Self::default()
        }
    }

    /// Whether this service has used up its retries.
    pub(crate) const fn has_used(self, service: usize) -> bool {
        self.used & bit(service) != 0
    }
}

/// The last of the bits is that of all services after it.
const fn bit(service: usize) -> u64 {
    1 << if service < 63 { service } else { 63 }
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Calls<'c> {
    /// The number of the first of the slots.
    first: usize,
    slots: VecDeque<Option<Open<'c>>>,
}

impl<'c> Calls<'c> {
    pub(crate) const fn new() -> Self {
        Self {
            first: 0,
            slots: VecDeque::new(),
        }
    }

    /// The number of the call that begins.
    pub(crate) fn begin(&mut self, open: Open<'c>) -> usize {
        let call = self.first.saturating_add(self.slots.len());
        self.slots.push_back(Some(open));
        call
    }

    /// The call, if it is not over.
    pub(crate) fn open(&mut self, call: usize) -> Option<&mut Open<'c>> {
        self.slots.get_mut(call.checked_sub(self.first)?)?.as_mut()
    }

    /// Those that are not over.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Open<'c>> {
        self.slots.iter().flatten()
    }

    /// The call, if it waits for this attempt.
    pub(crate) fn waiting(&mut self, attempt: Attempt) -> Option<&mut Open<'c>> {
        self.open(attempt.call)
            .filter(|open| open.is_waiting && open.attempt == attempt.number)
    }

    /// Whether the call waits for this attempt, and so do all calls above it.
    pub(crate) fn is_awaited(&mut self, attempt: Attempt) -> bool {
        let mut awaited = Some(attempt);
        while let Some(attempt) = awaited {
            match self.waiting(attempt) {
                Some(open) => awaited = open.caller,
                None => return false,
            }
        }
        true
    }

    /// The call is over.
    pub(crate) fn end(&mut self, call: usize) -> Option<Open<'c>> {
        let open = self.slots.get_mut(call.checked_sub(self.first)?)?.take();
        while let Some(None) = self.slots.front() {
            self.slots.pop_front();
            self.first = self.first.saturating_add(1);
        }
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Client;
    use crate::clock::Virtual;
    use retry_runtime::Policy;

    #[test]
    fn those_that_are_over_make_room() {
        let (client, clock) = (Client::new(Policy::new().without_budget()), Virtual::new(0));
        let begin = || Open {
            is_waiting: true,
            ..Open::new(client.call(&clock))
        };
        let attempt = |call, number| Attempt { call, number };
        let mut calls = Calls::new();
        for number in 0..4 {
            assert_eq!(calls.begin(begin()), number);
        }
        assert!(calls.end(1).is_some() && calls.end(1).is_none());
        assert_eq!(calls.slots.len(), 4);
        assert!(calls.end(0).is_some() && calls.open(0).is_none());
        assert_eq!(calls.slots.len(), 2);
        assert!(calls.waiting(attempt(2, 0)).is_some() && calls.waiting(attempt(2, 1)).is_none());
        assert_eq!(calls.begin(begin()), 4);
        assert_eq!(calls.all().count(), 3);
        assert!(calls.open(9).is_none() && calls.end(9).is_none());
        calls.begin(Open {
            caller: Some(attempt(3, 0)),
            ..begin()
        });
        assert!(calls.is_awaited(attempt(5, 0)) && !calls.is_awaited(attempt(5, 1)));
        calls.open(3).expect("it is open").is_waiting = false;
        assert!(
            !calls.is_awaited(attempt(5, 0)),
            "a delay of the call above"
        );
        calls.open(3).expect("it is open").is_waiting = true;
        calls.end(3);
        assert!(!calls.is_awaited(attempt(5, 0)));
    }
}
