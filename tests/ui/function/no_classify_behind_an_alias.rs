use reattempt::retry;

struct Broken;

type Answer<T> = Result<T, Broken>;

#[retry(max = 3)]
fn fetch() -> Answer<u32> {
    Err(Broken)
}

#[retry(max = 3)]
fn fetch_generic<E>(error: fn() -> E) -> Result<u32, E> {
    Err(error())
}

fn main() {
    let _ = fetch();
    let _ = fetch_generic(|| Broken);
}
