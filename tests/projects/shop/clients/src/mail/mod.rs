//! Letters.

mod queue;

use std::sync::atomic::{AtomicUsize, Ordering};

use shop_common::prelude::*;

pub static SENT: AtomicUsize = AtomicUsize::new(0);

#[retry(policy = "mail", name = "shop.receipt")] //~ receipt
pub fn receipt(order: u64) -> Result<(), Fault> {
    queue::put(order)
}

#[retry(policy = "mail", base = "2s", on(Fault::Unreachable | Fault::Closed))] //~ newsletter
pub fn newsletter() -> Result<(), Fault> {
    Err(Fault::Unreachable)
}

#[retry(policy = "absent", max = 2)] //~ absent
pub fn advertisement() -> Result<(), Fault> {
    Ok(())
}

#[retry(max = 2, backoff = "none")] //~ letter
pub fn letter() -> Result<(), Fault> {
    SENT.fetch_add(1, Ordering::Relaxed);
    Err(Fault::Unreachable)
}

/// In threads nobody knows of the retry around.
#[retry(max = 3, backoff = "none")] //~ letters
pub fn letters() -> Result<(), Fault> {
    let sent = std::thread::spawn(|| letter());
    sent.join().unwrap_or(Err(Fault::Unknown))
}
