use reattempt::Classify;

#[derive(Classify)]
union Fault {
    number: u32,
    text: f32,
}

fn main() {}
