use reattempt::retry_block;
use shop_common::prelude::*;
use shop_service::orders::Orders;

fn main() -> Result<(), Fault> {
    let orders = Orders::new();
    //~ main
    let order = retry_block!(
        max = 3,
        base = "1s",
        deadline = "1m",
        on(_),
        || -> Result<u32, Fault> { orders.checkout(1) }
    );
    order.map(|_| ())
}
