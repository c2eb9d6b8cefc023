use reattempt::Classify;

#[derive(Classify)]
enum Fault {
    #[retry(transient)]
    Reset,
    NotFound,
}

#[derive(Classify)]
struct Lost;

fn main() {}
