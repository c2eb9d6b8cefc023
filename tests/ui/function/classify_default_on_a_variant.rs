use reattempt::Classify;

#[derive(Classify)]
#[retry(transient)]
enum Fault {
    #[retry(default = transient)]
    Reset,
    Lost,
}

fn main() {}
