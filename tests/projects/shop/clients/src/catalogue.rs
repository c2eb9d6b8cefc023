//! Articles and their prices.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use shop_common::policies::{COPIES, PRICES};
use shop_common::prelude::*;

pub struct Catalogue {
    pub asked: Arc<AtomicUsize>,
}

impl Catalogue {
    /// Reaches the service after it was slow.
    //~ price
    #[retry(max = 2, base = "10ms", jitter = "none", hedge = COPIES, throttle = &PRICES)]
    pub async fn price(&self, article: u32) -> Result<u32, Fault> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        slow(article).await;
        Err(Fault::Unreachable)
    }

    //~ names
    #[retry(max = 3, timeout = "2s", base = "1s", jitter = "none", hedge = quantile(0.95))]
    pub async fn names(&self) -> Result<Vec<String>, Fault> {
        Ok(Vec::new())
    }

    /// `nested`: tells `price` and itself.
    //~ tree
    #[retry(max = 2, deadline = "30s", base = "1s", jitter = "none")]
    pub fn tree(&self, depth: u32) -> Result<u32, Fault> {
        self.branches(depth)
    }

    fn branches(&self, depth: u32) -> Result<u32, Fault> {
        match depth.checked_sub(1) {
            Some(below) => self.tree(below),
            None => Err(Fault::Unreachable),
        }
    }
}

/// The caller says how one waits.
pub static SLOW: OnceLock<fn() -> Slow> = OnceLock::new();

pub type Slow = Pin<Box<dyn Future<Output = ()> + Send>>;

async fn slow(_article: u32) {
    if let Some(slow) = SLOW.get() {
        slow().await;
    }
}
