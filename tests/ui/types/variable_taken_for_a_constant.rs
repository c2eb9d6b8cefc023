use reattempt::retry_block;

fn main() {
    #[allow(non_snake_case)]
    let LIMIT = 4;
    let _: Result<(), ()> = retry_block!(max = LIMIT, on(_), { Err(()) });
}
