use reattempt::{Failed, GaveUp, retry, retry_block};
use std::cell::Cell;
use std::time::Duration;

#[retry(max = 3, backoff = "none", on(_))]
fn sync(n: &Cell<u32>) -> Result<u32, String> {
    n.set(n.get() + 1);
    let s: u32 = "1".parse().map_err(|_| "x".to_string())?;
    if n.get() < 3 {
        return Err("no".into());
    }
    Ok(s + n.get())
}

#[retry(max = 5, backoff = "exp", jitter = 0.2, on = |e: &String| e == "no", deadline = "30s", on_retry = |r| println!("{:?}", r.delay()))]
async fn fetch(n: &Cell<u32>, s: &str) -> Result<u32, Failed<String>> {
    n.set(n.get() + 1);
    tokio::time::sleep(Duration::from_millis(3)).await;
    if n.get() < 3 {
        return Err("no".into());
    }
    Ok(s.len() as u32 + n.get())
}

#[test]
fn sync_works() {
    let n = Cell::new(0);
    assert_eq!(sync(&n), Ok(4));
}

#[tokio::test(start_paused = true)]
async fn async_works() {
    let n = Cell::new(0);
    assert_eq!(fetch(&n, "ab").await.unwrap(), 5);
    let n = Cell::new(0);
    let v = retry_block!(max = 3, on(_), async || -> Result<u32, u8> {
        n.set(n.get() + 1);
        if n.get() == 3 { Ok(1) } else { Err(2)? }
    })
    .await;
    assert_eq!(v, Ok(1));
    let w = retry_block!(backoff = "none", on(_), {
        n.set(n.get() + 1);
        if n.get() == 5 { Ok(1) } else { Err(2) }
    });
    assert_eq!(w, Ok(1));
}
