use reattempt::Classify;

#[derive(Classify)]
enum Fault {
    #[retry(inherit)]
    Both(std::io::Error, u32),
    #[retry(inherit)]
    None,
}

fn main() {}
