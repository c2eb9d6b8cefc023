use std::io;

use reattempt::retry;

fn fetch() -> io::Result<u32> {
    Ok(1)
}

async fn fetch_later() -> io::Result<u32> {
    Ok(1)
}

fn now() -> io::Result<u32> {
    #[retry(max = 3)]
    let answer = fetch()?;
    Ok(answer)
}

async fn later() -> io::Result<u32> {
    #[retry]
    let answer = fetch_later().await;
    answer
}

fn call() {
    #[retry(max = 3, base = "1s")]
    fetch().unwrap();
}

fn closure() {
    #[retry(max = 3)]
    || fetch();
}

fn main() {
    let _ = (now(), later(), call(), closure());
}
