//! Letters.

mod queue;

use std::sync::atomic::{AtomicUsize, Ordering};

use shop_common::prelude::*;

pub static SENT: AtomicUsize = AtomicUsize::new(0);

//~ receipt
#[retry(policy = "mail", name = "shop.receipt")]
pub fn receipt(order: u64) -> Result<(), Fault> {
    queue::put(order)
}

//~ newsletter
#[retry(policy = "mail", base = "2s", on(Fault::Unreachable | Fault::Closed))]
pub fn newsletter() -> Result<(), Fault> {
    Err(Fault::Unreachable)
}

//~ absent
#[retry(policy = "absent", max = 2)]
pub fn advertisement() -> Result<(), Fault> {
    Ok(())
}

//~ letter
#[retry(max = 2, backoff = "none")]
pub fn letter() -> Result<(), Fault> {
    SENT.fetch_add(1, Ordering::Relaxed);
    Err(Fault::Unreachable)
}

/// In threads nobody knows of the retry around.
//~ letters
#[retry(max = 3, backoff = "none")]
pub fn letters() -> Result<(), Fault> {
    let sent = std::thread::spawn(|| letter());
    sent.join().unwrap_or(Err(Fault::Unknown))
}
