use reattempt::retry_block;

fn main() {
    let name = String::from("orders");
    let _: Result<usize, ()> = retry_block!(on(_), move { Ok(name.len()) });
}
