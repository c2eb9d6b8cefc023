use again::{retry as attempt, retry_block as attempted};

//~ open
#[attempt(max = 3, base = "1s", jitter = "none", on(_), crate = ::again)]
fn open() -> Result<u8, String> {
    //~ attempted
    attempted!(crate = ::again, max = 2, base = "1ms", on(_), {
        ledger::books::read()
    })
}

fn main() {
    println!("retry! {:?} // #[retry(max = 8)]", open());
}
