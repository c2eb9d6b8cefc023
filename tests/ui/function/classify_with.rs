use reattempt::Classify;

#[derive(Classify)]
enum Fault {
    #[retry(with)]
    NoFunction(u16),
    #[retry(with = is_busy)]
    NoField,
    #[retry(with = is_busy, transient)]
    TwoVerdicts(u16),
    #[retry(with = is_busy, after = 0)]
    Delayed(u16),
}

#[derive(Classify)]
enum Types {
    #[retry(with = is_busy)]
    TwoFields(u16, u16),
    #[retry(with = |status: &u16| *status)]
    NoVerdict(u16),
    #[retry(with = 503)]
    Value(u16),
}

#[derive(Classify)]
enum Counts {
    #[retry(with = |code| *code >= 500)]
    OneOfTwo(u16, String),
    #[retry(with = |code, text| *code == 503)]
    TwoOfOne(u16),
}

fn is_busy(status: &u16) -> bool {
    *status == 503
}

fn main() {}
