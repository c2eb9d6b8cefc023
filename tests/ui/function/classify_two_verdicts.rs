use reattempt::Classify;

#[derive(Classify)]
enum Fault {
    #[retry(transient, permanent)]
    Reset,
    #[retry(transient)]
    #[retry(refused)]
    NotFound,
}

fn main() {}
