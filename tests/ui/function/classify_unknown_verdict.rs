use reattempt::Classify;

#[derive(Classify)]
enum Fault {
    #[retry(transiant)]
    Reset,
    #[retry(retryable)]
    NotFound,
    #[retry]
    Nothing,
    #[retry = "transient"]
    Text,
}

fn main() {}
