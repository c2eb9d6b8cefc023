//! What tests retry is listed, too.

use reattempt::retry;
use shop_clients::stock::Stock;
use shop_common::error::Fault;

#[test]
//~ outage
#[retry(max = 2, base = "1ms", on(_))]
fn nothing_is_reserved() -> Result<(), Fault> {
    match Stock::default().held_by_nobody() {
        Err(Fault::Unknown) => Ok(()),
        other => other,
    }
}

trait Nobody {
    fn held_by_nobody(&self) -> Result<(), Fault>;
}

impl Nobody for Stock {
    fn held_by_nobody(&self) -> Result<(), Fault> {
        Err(Fault::Unknown)
    }
}
