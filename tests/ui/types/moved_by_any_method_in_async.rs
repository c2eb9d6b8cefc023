//! No name of a method hints at these moves: the compiler finds them in a copy of the body that never runs.

use std::sync::Arc;

use reattempt::retry;

struct Options(Vec<u8>);

impl Options {
    fn credentials(self, more: &[u8]) -> Result<Self, String> {
        Ok(Self([&self.0, more].concat()))
    }

    #[retry(max = 3, on(_))]
    async fn credentials_file(self, path: &str) -> Result<Self, String> {
        let read = load(path).await?;
        self.credentials(&read)
    }

    async fn turn(self, times: u32) -> Result<u32, String> {
        Ok(times)
    }

    #[retry(max = 3, on(_))]
    async fn drive(self) -> Result<(), String> {
        self.turn(3).await.map(|_| ())
    }

    // In a short body, too.
    #[retry(max = 3, on(_))]
    async fn drive_twice(self, other: Self) -> Result<u32, String> {
        let first = self.turn(3).await?;
        if first == 0 {
            return Ok(first);
        }
        other.turn(first).await
    }

    async fn refresh(self: Arc<Self>) -> Result<u32, String> {
        Ok(1)
    }
}

#[retry(max = 3, on(_))]
async fn refresh(options: Arc<Options>) -> Result<u32, String> {
    options.refresh().await
}

#[retry(max = 3, on(_))]
fn in_front(options: &Arc<Options>) -> impl Future<Output = Result<u32, String>> {
    let options = Arc::clone(options);
    async move { options.refresh().await }
}

async fn load(path: &str) -> Result<Vec<u8>, String> {
    Ok(path.into())
}

// The pattern takes a copy, the method the other parameter.
#[retry(max = 3, on(_))]
fn beside_a_pattern(id: (Option<u8>, u8), options: Options) -> Result<Options, String> {
    match id.0 {
        Some(id) => options.credentials(&[id]),
        None => Err(String::new()),
    }
}

struct Client {
    page: String,
}

impl Client {
    async fn load(&mut self, number: u32) -> Result<(), String> {
        self.page = number.to_string();
        Ok(())
    }

    #[retry(max = 3, on(_))]
    async fn page(&mut self) -> Result<&str, String> {
        let number = 3;
        self.load(number).await?;
        Ok(&self.page)
    }
}

struct Pages(Vec<String>);

struct Query(String);

impl Query {
    async fn to_page(self, pages: &mut Pages) -> Result<u32, String> {
        pages.0.push(self.0);
        Ok(1)
    }
}

// What certainly moves does not hide what only a method moves.
#[retry(max = 3, on(_))]
async fn rename(name: String, query: Query, mut pages: Vec<String>) -> Result<u32, String> {
    let mut all = Pages(vec![name]);
    all.0.append(&mut pages);
    query.to_page(&mut all).await
}

// In a long body, too.
#[retry(max = 3, on(_))]
async fn find(pages: &mut Pages, query: Query) -> Result<u32, String> {
    let mut number = 0;
    for page in &pages.0 {
        if page.is_empty() {
            return Err("a page is empty".to_owned());
        } else if page.starts_with('#') {
            number += 1;
        } else if page.starts_with('-') {
            number -= 1;
        } else {
            number += page.lines().count();
        }
    }
    pages.0.retain(|page| !page.is_empty());
    pages.0.sort();
    for page in &mut pages.0 {
        page.push_str(" (read)");
        page.insert(0, ' ');
        if page.len() > 100 {
            page.truncate(100);
        }
        if page.len() < 10 {
            page.push_str("..");
        }
    }
    let longest = pages.0.iter().map(String::len).max();
    if longest.is_some_and(|it| it > 100) {
        return Err("a page is too long".to_owned());
    }
    let found = query.to_page(pages).await?;
    if found > 100 {
        return Err(format!("page {found} of {number}"));
    }
    Ok(found)
}

fn main() {}
