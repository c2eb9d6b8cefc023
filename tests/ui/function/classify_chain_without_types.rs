use reattempt::Classify;

#[derive(Classify)]
enum Mine {
    #[retry(chain)]
    Word(std::io::Error),
    #[retry(chain())]
    Empty(std::io::Error),
    #[retry(chain(std::io::Error), after = 0)]
    Delayed(std::io::Error),
}

fn main() {}
