use reattempt::retry;

#[retry(max = 3)]
struct Client;

fn main() {
    let _ = Client;
}
