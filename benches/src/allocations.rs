//! Allocations of a call, and the bytes that are held at once, counted by a global
//! allocator that counts from a switch on.
#![allow(unsafe_code, reason = "`GlobalAlloc` is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};

use crate::cases::Run;

#[global_allocator]
static COUNTER: Counter = Counter {
    counts: AtomicBool::new(false),
    allocations: AtomicU32::new(0),
    weighs: AtomicBool::new(false),
    held: AtomicI64::new(0),
    most: AtomicI64::new(0),
};

struct Counter {
    counts: AtomicBool,
    allocations: AtomicU32,
    weighs: AtomicBool,
    held: AtomicI64,
    most: AtomicI64,
}

impl Counter {
    fn note(&self) {
        if self.counts.load(Ordering::Relaxed) {
            self.allocations.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn weigh(&self, more: usize, less: usize) {
        if self.weighs.load(Ordering::Relaxed) {
            let more = more.cast_signed() as i64 - less.cast_signed() as i64;
            let held = self.held.fetch_add(more, Ordering::Relaxed) + more;
            self.most.fetch_max(held, Ordering::Relaxed);
        }
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.note();
        self.weigh(layout.size(), 0);
        // SAFETY: as promised by our caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.note();
        self.weigh(size, layout.size());
        // SAFETY: as promised by our caller.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.weigh(0, layout.size());
        // SAFETY: as promised by our caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Allocations of one call that fails `failures` times; what surrounds the
/// calls cancels out.
pub(crate) fn allocations(run: Run, failures: u32) -> f64 {
    run(failures, 1); // what is made once in a process
    let (few, many) = (counted(run, failures, 10), counted(run, failures, 20));
    (many - few) / 10.0
}

fn counted(run: Run, failures: u32, calls: u64) -> f64 {
    COUNTER.allocations.store(0, Ordering::Relaxed);
    COUNTER.counts.store(true, Ordering::Relaxed);
    run(failures, calls);
    COUNTER.counts.store(false, Ordering::Relaxed);
    COUNTER.allocations.load(Ordering::Relaxed).into()
}

/// The most bytes that `work` holds at once, beyond those that were held before.
pub(crate) fn most_held(work: impl FnOnce()) -> i64 {
    COUNTER.weighs.store(true, Ordering::Relaxed);
    work();
    COUNTER.weighs.store(false, Ordering::Relaxed);
    COUNTER.most.load(Ordering::Relaxed)
}

/// The bytes that `work` leaves allocated.
pub(crate) fn kept(work: impl FnOnce()) -> i64 {
    COUNTER.held.store(0, Ordering::Relaxed);
    COUNTER.weighs.store(true, Ordering::Relaxed);
    work();
    COUNTER.weighs.store(false, Ordering::Relaxed);
    COUNTER.held.load(Ordering::Relaxed)
}
