use reattempt_supervisor::{step, workflow};

#[step]
struct Pay;

#[workflow]
mod order {}

fn main() {
    drop(Pay);
}
