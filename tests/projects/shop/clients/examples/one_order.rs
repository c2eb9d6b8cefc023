use reattempt::retry_block;
use shop_common::error::Fault;

fn main() {
    //~ one_order
    let answer = retry_block!(policy = shop_common::policies::QUICK, {
        shop_clients::mail::newsletter()
    });
    assert_eq!(answer, Err(Fault::Unreachable));
}
