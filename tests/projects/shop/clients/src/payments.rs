//! Money.

use shop_common::policies::{CARRIER, SPENDING};
use shop_common::prelude::{Fault, retry};

pub trait Charge {
    fn charge(&self, amount: u64) -> Result<u64, Fault>;

    //~ refund
    #[retry(max = 2, on(_))]
    fn refund(&self, amount: u64) -> Result<u64, Fault> {
        Err(if amount == 0 {
            Fault::Unknown
        } else {
            Fault::Unreachable
        })
    }
}

pub struct Bank {
    pub name: &'static str,
}

#[retry(max = 3, base = "500ms", budget = &SPENDING, breaker = &CARRIER)]
impl Bank {
    //~ balance
    pub fn balance(&self) -> Result<u64, Fault> {
        Err(Fault::Unreachable)
    }

    /// Has an attribute of its own.
    //~ transfer
    #[retry(max = 2, idempotent = false, name = "bank.transfer")]
    pub fn transfer(&mut self, amount: u64) -> Result<u64, Fault> {
        self.open().map(|()| amount)
    }

    #[retry(never)]
    pub fn open(&self) -> Result<(), Fault> {
        Err(Fault::Closed)
    }

    // No `Result`: nothing to retry.
    pub fn name(&self) -> &str {
        self.name
    }
}

impl Charge for Bank {
    //~ charge
    #[retry(max = 3, budget = 0.1, base = "20ms")]
    fn charge(&self, amount: u64) -> Result<u64, Fault> {
        self.balance().map(|balance| balance.min(amount))
    }
}
