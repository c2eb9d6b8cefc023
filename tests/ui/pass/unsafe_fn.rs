//! `unsafe fn`, a crate of its own: the workspace forbids `unsafe`.

use std::cell::Cell;

use reattempt::retry;

fn step(attempts: &Cell<u32>, failures: u32) -> Result<u32, u32> {
    attempts.set(attempts.get() + 1);
    let number = attempts.get();
    if number > failures {
        Ok(number)
    } else {
        Err(number)
    }
}

// An `unsafe fn`, whose body is no unsafe block.
#[retry(max = 3, backoff = "none", on(_))]
unsafe fn unsafe_fn(attempts: &Cell<u32>, failures: u32) -> Result<u32, u32> {
    step(attempts, failures)
}

// An unsafe block in the body.
#[retry(max = 3, backoff = "none", on(_))]
unsafe fn unsafe_block(attempts: *const Cell<u32>, failures: u32) -> Result<u32, u32> {
    let attempts = unsafe { &*attempts };
    step(attempts, failures)
}

// `unsafe extern "C" fn`.
#[allow(improper_ctypes_definitions)]
#[retry(max = 3, backoff = "none", on(_))]
unsafe extern "C" fn unsafe_foreign(attempts: &Cell<u32>, failures: u32) -> Result<u32, u32> {
    step(attempts, failures)
}

// `async unsafe fn`.
#[retry(max = 3, on(_))]
async unsafe fn unsafe_async(attempts: &Cell<u32>, failures: u32) -> Result<u32, u32> {
    step(attempts, failures)
}

/// A trait that is unsafe to implement, with an unsafe method.
unsafe trait Unsafe {
    unsafe fn method(&self, failures: u32) -> Result<u32, u32>;
}

unsafe impl Unsafe for Cell<u32> {
    #[retry(max = 3, backoff = "none", on(_))]
    unsafe fn method(&self, failures: u32) -> Result<u32, u32> {
        step(self, failures)
    }
}

fn check(shape: impl Fn(&Cell<u32>, u32) -> Result<u32, u32>) {
    let attempts = Cell::new(0);
    assert_eq!((shape(&attempts, 2), attempts.get()), (Ok(3), 3));
    let attempts = Cell::new(0);
    assert_eq!((shape(&attempts, u32::MAX), attempts.get()), (Err(3), 3));
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    check(|attempts, failures| unsafe { unsafe_fn(attempts, failures) });
    check(|attempts, failures| unsafe { unsafe_block(attempts, failures) });
    check(|attempts, failures| unsafe { unsafe_foreign(attempts, failures) });
    check(|attempts, failures| unsafe { attempts.method(failures) });
    check(|attempts, failures| runtime.block_on(unsafe { unsafe_async(attempts, failures) }));
}
