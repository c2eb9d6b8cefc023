use reattempt::{Classify, Verdict};

#[derive(Classify)]
enum Status {
    #[retry(with = Self::judge)]
    ByMethod(u16),
    #[retry(with = judge)]
    ByFunction { code: u16 },
    #[retry(with = |code: u32| code == 503)]
    OfAnotherType(u16),
}

impl Status {
    fn judge(&self) -> Verdict {
        Verdict::Transient
    }
}

fn judge(code: u16) -> bool {
    code == 503
}

#[derive(Classify)]
enum Closure {
    #[retry(with = |code: u16| code == 503)]
    OfTheField(u16),
}

#[derive(Classify)]
#[retry(with = |error| error.code >= 500)]
struct OfTheWhole {
    code: u16,
}

fn main() {}
