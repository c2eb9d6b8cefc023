//! What is in the warehouse.

use std::sync::atomic::{AtomicUsize, Ordering};

use shop_common::policies::PATIENT;
use shop_common::prelude::*;

/// Counts what arrives there.
#[derive(Default)]
pub struct Stock {
    pub asked: AtomicUsize,
}

impl Stock {
    //~ count
    #[retry(policy = PATIENT)]
    pub fn count(&self, article: u32) -> Result<u32, Fault> {
        let _ = article;
        self.asked.fetch_add(1, Ordering::Relaxed);
        Err(Fault::Unreachable)
    }

    //~ line
    #[retry(max = 4, base = "10ms", jitter = 0.5, nested = "multiply")]
    pub fn line(&self) -> Result<u32, Fault> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Err(Fault::Unreachable)
    }

    //~ found
    #[retry(max = Settings::ATTEMPTS, base = "100ms", cap = Settings::CAP, jitter = "none", until = |found: &u32| *found > 0)]
    pub fn found(&self) -> Result<u32, Fault> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Ok(0)
    }

    pub fn reserved(&self, article: u32) -> Result<u32, Fault> {
        let counted = self.count(article)?;
        // A block in a method that is not retried itself.
        //~ held
        retry_block!(max = 2, base = "1ms", on(_), { self.held(counted) })
    }

    fn held(&self, counted: u32) -> Result<u32, Fault> {
        counted.checked_sub(1).ok_or(Fault::Unknown)
    }
}
