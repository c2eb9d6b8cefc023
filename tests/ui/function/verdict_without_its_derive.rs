use reattempt::retry;

#[retry(transient)]
#[derive(Debug)]
struct Busy;

#[retry(default = permanent)]
#[derive(Debug)]
enum Fault {
    Late,
}

#[retry(max = 3)]
enum Client {
    Shop,
}

fn main() {
    let _ = (Busy, Fault::Late, Client::Shop);
}
