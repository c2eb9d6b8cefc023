use reattempt::retry;

#[retry(max = 3, on(_))]
fn fetch() {}

#[retry(max = 3, on(_))]
async fn fetch_later() {}

#[retry(max = 3, on(_))]
fn fetch_unit() -> () {}

fn main() {
    fetch();
    let _ = fetch_later();
    fetch_unit();
}
