use reattempt::{Policy, retry};
use std::io::Error;

const POLICY: Policy = Policy::new().idempotent(false).checked();

struct Bank;

#[retry(idempotent = false, max = 3)]
impl Bank {
    fn pay(&self) -> Result<(), Error> {
        Ok(())
    }

    #[retry(max = 5)]
    fn refund(&self) -> Result<(), Error> {
        Ok(())
    }

    #[retry]
    fn book(&self) -> Result<(), Error> {
        Ok(())
    }

    #[retry(max = 5, idempotent = true)]
    fn balance(&self) -> Result<(), Error> {
        Ok(())
    }

    #[retry(policy = POLICY)]
    fn withdraw(&self) -> Result<(), Error> {
        Ok(())
    }

    #[retry(never)]
    fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}

fn main() {}
