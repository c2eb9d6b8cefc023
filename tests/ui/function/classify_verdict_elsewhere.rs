use std::io;

use reattempt::Classify;

#[derive(Classify)]
enum OnField {
    Io(#[retry(inherit)] io::Error),
}

#[derive(Classify)]
#[retry(default)]
enum NoDefault {
    Busy,
    Gone(u16),
}

#[derive(Classify)]
enum Words {
    #[retry(transient = true)]
    Value,
    #[retry(Verdict::Transient)]
    Variant,
    #[retry(throttled, after = "5s")]
    Text,
}

fn main() {}
