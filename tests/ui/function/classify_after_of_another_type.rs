use reattempt::Classify;

#[derive(Classify)]
enum Fault {
    #[retry(throttled, after = wait)]
    Busy { wait: u64 },
    #[retry(throttled, after = 0)]
    Later(Option<u64>),
}

fn main() {}
