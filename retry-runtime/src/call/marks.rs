//! The marks of a call: while an attempt runs or is polled, a retry shows them, and the call takes over what is marked
//! meanwhile.

use reattempt_core::{around, marks};

use super::Call;

impl Call {
    /// Takes over what has been marked while its attempt ran or was polled, since the thread had marked so many.
    #[inline(always)]
    pub(crate) fn take_marks(&mut self, since: u32) {
        if around::marks() != since {
            self.take_published(since);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_published(&mut self, since: u32) {
        let mut rest = self.rest.get();
        // A name for other processes goes up to them alone: inside of this one an operation has its own mark.
        if rest
            .marks
            .take(since, |operation| operation.shared_name().is_none())
        {
            self.rest.set(rest);
        }
    }

    /// Shows its marks. Returns how many were visible before.
    #[cold]
    #[inline(never)]
    fn show_marks(&self) -> Option<usize> {
        marks::show(&self.rest.get().marks)
    }
}

/// An attempt of a call, or one poll of it: until this is dropped, a retry shows the marks of the call, which then takes
/// over what has been marked meanwhile.
#[must_use = "dropped at once it shows nothing"]
#[derive(Debug)]
pub(crate) struct AttemptMarks<'c> {
    call: &'c mut Call,
    since: u32,
    shown_from: Option<usize>,
}

impl<'c> AttemptMarks<'c> {
    /// Begins, or goes on with, an attempt of `call`.
    #[inline(always)]
    pub(crate) fn new(call: &'c mut Call, is_retry: bool) -> Self {
        let is_shown = is_retry && !call.rest.is_none();
        Self {
            shown_from: if is_shown { call.show_marks() } else { None },
            since: around::marks(),
            call,
        }
    }
}

impl Drop for AttemptMarks<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.call.take_marks(self.since);
        if let Some(before) = self.shown_from {
            marks::hide(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use reattempt_core::marks::{is_marked, mark};
    use reattempt_core::name::OperationId;
    use reattempt_core::rest::taken_places;

    use super::*;

    const OURS: OperationId = OperationId::new(1);

    /// Runs a retry of `call` in which `f` runs.
    fn retry<R>(call: &mut Call, f: impl FnOnce() -> R) -> R {
        let _retry = around::RetryScope::new(1);
        let _marks = AttemptMarks::new(call, true);
        f()
    }

    /// A mark outlives the attempt that it was made in, but not the call, and no other call sees it.
    #[test]
    fn a_call_shows_what_was_marked_in_it_and_nothing_else() {
        let (mut call, mut neighbour) = (Call::new(), Call::new());
        assert!(!retry(&mut call, || is_marked(OURS)));
        retry(&mut neighbour, || mark(OperationId::new(2)));
        retry(&mut call, || mark(OURS));
        assert!(retry(&mut call, || is_marked(OURS)
            && !is_marked(OperationId::new(2))));
        assert!(retry(&mut neighbour, || !is_marked(OURS)));
        assert!(!is_marked(OURS));
    }

    /// A first attempt shows nothing, but its call takes over what is marked in it.
    #[test]
    fn a_first_attempt_only_takes_over() {
        let mut call = Call::new();
        {
            let _marks = AttemptMarks::new(&mut call, false);
            mark(OURS);
        }
        let since = around::marks();
        call.take_marks(since);
        assert!(retry(&mut call, || is_marked(OURS)));
    }

    /// Dropped calls give their places back, also those that never failed.
    #[test]
    fn a_million_dropped_calls_leave_nothing() {
        for _ in 0..1_000 {
            let calls: Vec<Call> = (0..1_000)
                .map(|_| {
                    let mut call = Call::new();
                    retry(&mut call, || mark(OURS));
                    assert!(!call.rest.is_none());
                    call
                })
                .collect();
            drop(calls);
        }
        // Calls of other tests may have some.
        assert!(taken_places() < 100);
    }

    #[cfg(all(feature = "tokio", not(target_os = "unknown")))]
    #[test]
    fn a_call_that_drives_a_runtime_takes_nothing_over_from_its_tasks() {
        let mut call = Call::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime is made");
        retry(&mut call, || {
            runtime.block_on(async {
                let other = tokio::spawn(async { mark(OURS) });
                other.await.expect("no panic");
                mark(OperationId::new(2));
            });
        });
        assert!(retry(&mut call, || !is_marked(OURS)
            && is_marked(OperationId::new(2))));
    }
}
