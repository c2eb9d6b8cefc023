use reattempt::{Classify, retry};

#[derive(Classify)]
enum Fault {
    #[retry(transient)]
    Reset,
    NotFound,
}

#[derive(Classify)]
struct Lost;

#[retry]
fn fetch() -> Result<(), Fault> {
    Err(Fault::NotFound)
}

fn main() {
    let _ = fetch();
}
