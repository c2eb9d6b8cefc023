//! The seats of a worker: how many more tasks it can run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The seats of a worker: how many more tasks it can run. They are closed at first.
#[derive(Debug, Clone)]
pub(crate) struct Seats(Arc<SeatState>);

#[derive(Debug)]
struct SeatState {
    // Only the writer takes seats, after each claim and before the next one. Workers only give them
    // back. So no claim gets more tasks than there are seats, and no memory order is needed.
    left: AtomicUsize,
    is_open: AtomicBool,
    /// Whether there may be a task that no claim has looked for.
    is_called: AtomicBool,
    /// How many seats the last claim offered.
    offered: AtomicUsize,
}

impl Seats {
    pub(crate) fn new(tasks: usize) -> Self {
        Self(Arc::new(SeatState {
            left: AtomicUsize::new(tasks),
            is_open: AtomicBool::new(false),
            is_called: AtomicBool::new(true),
            offered: AtomicUsize::new(0),
        }))
    }

    /// Lets claims take the seats. Returns whether they were closed.
    pub(crate) fn open(&self) -> bool {
        !self.0.is_open.swap(true, Ordering::Relaxed)
    }

    /// Lets no claim begin.
    pub(crate) fn close(&self) {
        self.0.is_open.store(false, Ordering::Relaxed);
    }

    /// Returns whether the worker can run no more tasks.
    pub(crate) fn is_full(&self) -> bool {
        self.0.left.load(Ordering::Relaxed) == 0
    }

    pub(super) fn take(&self, tasks: usize) {
        self.0.left.fetch_sub(tasks, Ordering::Relaxed);
    }

    /// Returns the seat of a claimed task.
    pub(crate) fn seat(&self) -> Seat {
        Seat(self.clone())
    }

    /// Notes that there may be something to claim.
    pub(super) fn call(&self) {
        self.0.is_called.store(true, Ordering::Relaxed);
    }

    /// Returns how many tasks to claim now.
    pub(super) fn offer(&self) -> Option<u32> {
        let left = self.0.left.load(Ordering::Relaxed);
        let is_ready = left > 0 && self.0.is_open.load(Ordering::Relaxed);
        // Each claim costs a statement, and finds nothing before a task is stored or wakes up. A
        // call that comes too early stays for when the worker is ready.
        if !is_ready || !self.0.is_called.swap(false, Ordering::Relaxed) {
            return None;
        }
        self.0.offered.store(left, Ordering::Relaxed);
        Some(u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// Takes the seats for so many tasks that a claim has got. Closes the seats if it is unknown whether the claim
    /// took place.
    pub(super) fn settle(&self, claimed: Option<usize>) {
        let Some(claimed) = claimed else {
            // The claim may still take place, and needs its seats then. The worker opens them after
            // a heartbeat that has listed what it holds.
            self.close();
            return self.call();
        };
        self.take(claimed);
        // A full claim may have left tasks behind; any other one has taken all that were ready.
        if claimed >= self.0.offered.load(Ordering::Relaxed) {
            self.call();
        }
    }
}

/// The seat of one task until this is dropped.
#[derive(Debug)]
pub(crate) struct Seat(Seats);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.0.left.fetch_add(1, Ordering::Relaxed);
    }
}
