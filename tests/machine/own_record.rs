//! What `testing::record` knows of one call, not of those around it and beside it on its thread.

use std::cell::RefCell;
use std::rc::Rc;

use reattempt::testing::{self, Record, RecordedCall};

use crate::noise;

thread_local! {
    static RECORDED: RefCell<Option<Rc<Recorded>>> = const { RefCell::new(None) };
}

/// The record of the call that runs here.
#[derive(Debug)]
pub(crate) struct Recorded {
    all: Record,
    /// Which of them are other calls of the same operation.
    others: RefCell<Vec<usize>>,
}

impl Recorded {
    pub(crate) fn begin() -> Rc<Self> {
        let recorded = Rc::new(Self {
            all: testing::record(),
            others: RefCell::default(),
        });
        RECORDED.set(Some(Rc::clone(&recorded)));
        recorded
    }

    /// The call, if it was retried.
    pub(crate) fn end(&self) -> Option<RecordedCall> {
        RECORDED.take();
        let others = self.others.borrow();
        let is_own = |(index, call): &(usize, RecordedCall)| {
            !others.contains(index) && !call.operation().starts_with(noise::BESIDE)
        };
        let mut own = self.all.calls().into_iter().enumerate().filter(is_own);
        own.next_back().map(|(_, call)| call)
    }

    fn len(&self) -> usize {
        self.all.calls().len()
    }
}

/// Until this is dropped, calls of the operation are not the one that is recorded.
pub(crate) struct Unrelated(Option<(Rc<Recorded>, usize)>);

impl Unrelated {
    pub(crate) fn begin() -> Self {
        let recorded = RECORDED.take();
        Self(recorded.map(|recorded| (Rc::clone(&recorded), recorded.len())))
    }
}

impl Drop for Unrelated {
    fn drop(&mut self) {
        if let Some((recorded, before)) = self.0.take() {
            let others = before..recorded.len();
            recorded.others.borrow_mut().extend(others);
            RECORDED.set(Some(recorded));
        }
    }
}
