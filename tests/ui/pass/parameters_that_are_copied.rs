//! What is moved by its looks, and copied or reborrowed by its type.

use reattempt::retry;

#[derive(Clone, Copy)]
struct Id(u32);

type Connection<'a> = &'a mut Vec<u32>;

impl Id {
    #[retry(max = 3, on(_))]
    fn number(self) -> Result<u32, String> {
        Ok(self.0)
    }

    #[retry(max = 3, on(_))]
    async fn itself(self) -> Result<Self, String> {
        Ok(self)
    }
}

fn push(connection: Connection<'_>, id: Id) -> Result<u32, String> {
    connection.push(id.0);
    if connection.len() < 3 { Err(String::new()) } else { Ok(id.0) }
}

#[retry(max = 3, backoff = "none", on(_))]
fn fetch(connection: Connection<'_>, id: Id) -> Result<u32, String> {
    push(connection, id)
}

#[retry(max = 3, backoff = "none", on(_))]
async fn fetch_later(connection: Connection<'_>, id: Id) -> Result<u32, String> {
    push(connection, id)
}

#[retry(max = 3, on(_))]
fn generic<T: Copy + Into<u32>>(id: T, found: Option<Id>) -> Result<u32, String> {
    let copied = move || id.into();
    found.map(|found| found.0).ok_or_else(|| copied().to_string())
}

#[retry(max = 3, on(_))]
fn part(pair: (u32, String)) -> Result<u32, String> {
    let first = move || pair.0;
    Ok(first())
}

#[retry(max = 3, on(_))]
fn not_yet(url: String) -> Result<String, String> {
    if url.is_empty() {
        return Err(format!("{url} {}", url));
    }
    let url = url.trim();
    let url = url.to_owned();
    Ok(url)
}

fn main() {
    let mut pushed = Vec::new();
    assert_eq!(fetch(&mut pushed, Id(7)), Ok(7));
    pushed.clear();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(fetch_later(&mut pushed, Id(7))), Ok(7));
    assert_eq!(Id(3).number(), Ok(3));
    assert!(runtime.block_on(Id(3).itself()).is_ok());
    assert_eq!(generic(3_u16, None), Err("3".to_owned()));
    assert_eq!(part((3, String::new())), Ok(3));
    assert_eq!(not_yet("x ".to_owned()), Ok("x".to_owned()));
}
