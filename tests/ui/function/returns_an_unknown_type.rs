use reattempt::retry;

struct Page;

#[retry(max = 3)]
fn fetch() -> Page {
    Page
}

#[retry(max = 3)]
async fn fetch_later() -> Page {
    Page
}

#[retry(max = 3)]
fn fetch_any<T: Default>() -> T {
    T::default()
}

fn main() {
    let _ = (fetch(), fetch_later());
    let _: u8 = fetch_any();
}
