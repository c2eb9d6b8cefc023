//! Allocations of a call, counted by a global allocator that looks away until
//! it is told to count.
#![allow(unsafe_code, reason = "`GlobalAlloc` is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::cases::Run;

#[global_allocator]
static COUNTER: Counter = Counter {
    counts: AtomicBool::new(false),
    allocations: AtomicU32::new(0),
};

struct Counter {
    counts: AtomicBool,
    allocations: AtomicU32,
}

impl Counter {
    fn note(&self) {
        if self.counts.load(Ordering::Relaxed) {
            self.allocations.fetch_add(1, Ordering::Relaxed);
        }
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.note();
        // SAFETY: as promised by our caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.note();
        // SAFETY: as promised by our caller.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
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
