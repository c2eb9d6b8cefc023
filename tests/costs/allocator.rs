//! Counts what a thread allocates.
#![allow(unsafe_code, reason = "`GlobalAlloc` is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static COUNTER: Counter = Counter;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static KEPT: Cell<isize> = const { Cell::new(0) };
}

struct Counter;

// SAFETY: each method is that of `System`, called with what it got.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        keep(layout.size().cast_signed());
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        keep(-layout.size().cast_signed());
        // SAFETY: the caller keeps the promises of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        keep(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: the caller keeps the promises of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn count() {
    let _counted = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

fn keep(bytes: isize) {
    let _kept = KEPT.try_with(|kept| kept.set(kept.get() + bytes));
}

/// Returns how many bytes more this thread has allocated after `f` than before.
pub(crate) fn kept(f: impl FnOnce()) -> isize {
    let before = KEPT.get();
    f();
    KEPT.get() - before
}

/// Returns how often `f` allocates on this thread.
pub(crate) fn allocations(f: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    f();
    ALLOCATIONS.get() - before
}
