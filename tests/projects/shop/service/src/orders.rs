//! Orders: each layer has retries of its own, as it happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shop_clients::payments::{Bank, Charge};
use shop_clients::stock::Stock;
use shop_common::policies::QUICK;
use shop_common::prelude::*;

pub struct Orders {
    pub stock: Arc<Stock>,
    payments: Box<dyn Charge>,
    pub polled: AtomicUsize,
}

impl Orders {
    pub fn new() -> Self {
        Self {
            stock: Arc::default(),
            payments: Box::new(Bank { name: "first" }),
            polled: AtomicUsize::new(0),
        }
    }

    //~ checkout
    #[retry(max = 4, base = "10ms", jitter = "none")]
    pub fn checkout(&self, article: u32) -> Result<u32, Fault> {
        let reserved = self.reserve(article)?;
        paid(&*self.payments, reserved)
    }

    //~ reserve
    #[retry(policy = QUICK, max = 3)]
    fn reserve(&self, article: u32) -> Result<u32, Fault> {
        warehouse(&self.stock, article)
    }

    //~ audit
    #[retry(max = 3, base = "10ms", jitter = "none")]
    pub fn audit(&self) -> Result<u32, Fault> {
        self.stock.line()
    }

    //~ ship
    #[retry(max = 3, base = "10ms", jitter = "none")]
    pub fn ship(&self) -> Result<u32, Fault> {
        let stock = Arc::clone(&self.stock);
        stock.found()
    }

    /// Waits for a value; that is no retry for what is below.
    //~ delivered
    #[retry(max = 4, base = "10ms", jitter = "none", until = |state: &u32| *state == 9)]
    pub fn delivered(&self) -> Result<u32, Fault> {
        self.state()
    }

    //~ state
    #[retry(max = 2, base = "10ms", jitter = "none")]
    fn state(&self) -> Result<u32, Fault> {
        let asked = self.polled.fetch_add(1, Ordering::Relaxed);
        if asked % 2 == 0 {
            Err(Fault::Unreachable)
        } else {
            Ok(1)
        }
    }
}

impl Default for Orders {
    fn default() -> Self {
        Self::new()
    }
}

fn warehouse(stock: &Stock, article: u32) -> Result<u32, Fault> {
    stock.count(article)
}

fn paid(payments: &dyn Charge, amount: u32) -> Result<u32, Fault> {
    payments.charge(u64::from(amount)).map(|_| amount)
}
