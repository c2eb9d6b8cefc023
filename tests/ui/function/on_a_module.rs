use reattempt::retry;

#[retry(max = 3)]
mod client {
    pub fn fetch() {}
}

fn main() {
    client::fetch();
}
