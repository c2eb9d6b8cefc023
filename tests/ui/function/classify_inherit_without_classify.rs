use reattempt::Classify;

#[derive(Classify)]
enum Fault {
    #[retry(inherit)]
    Text(String),
}

fn main() {}
