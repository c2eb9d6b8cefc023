//! The calls of a run that are not over, by their number: those that are over make room.

use std::collections::VecDeque;

use crate::client::Request;

/// A call that is not over.
#[derive(Debug)]
pub(crate) struct Open<'c> {
    pub(crate) request: Request<'c>,
    /// The number of the attempt that is under way, or of the one before the delay.
    pub(crate) attempt: u32,
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
    pub(crate) fn begin(&mut self, request: Request<'c>) -> usize {
        let call = self.first.saturating_add(self.slots.len());
        let attempt = 0;
        self.slots.push_back(Some(Open { request, attempt }));
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
    pub(crate) fn waiting(&mut self, call: usize, attempt: u32) -> Option<&mut Open<'c>> {
        self.open(call).filter(|open| open.attempt == attempt)
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
        let mut calls = Calls::new();
        for number in 0..4 {
            assert_eq!(calls.begin(client.call(&clock)), number);
        }
        assert!(calls.end(1).is_some() && calls.end(1).is_none());
        assert_eq!(calls.slots.len(), 4);
        assert!(calls.end(0).is_some() && calls.open(0).is_none());
        assert_eq!(calls.slots.len(), 2);
        assert!(calls.waiting(2, 0).is_some() && calls.waiting(2, 1).is_none());
        assert_eq!(calls.begin(client.call(&clock)), 4);
        assert_eq!(calls.all().count(), 3);
        assert!(calls.open(9).is_none() && calls.end(9).is_none());
    }
}
