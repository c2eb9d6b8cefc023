//! An attempt that is a future is no closure: a closure that makes it is asked.

use reattempt::retry;

struct Url(String);

impl Url {
    fn into_host(self) -> String {
        self.0
    }
}

#[retry(max = 3, on(_))]
async fn by_a_match(url: Option<Url>) -> Result<String, String> {
    match url {
        Some(url) => Ok(url.0),
        None => Err("no url".into()),
    }
}

#[retry(max = 3, on(_))]
async fn by_a_method(url: Url) -> Result<String, String> {
    Ok(url.into_host())
}

#[retry(max = 3, on(_))]
async fn beside_what_is_compiled_sometimes(url: Url, offline: bool) -> Result<Url, String> {
    #[cfg(any())]
    if offline {
        return Err("offline".into());
    }
    let _ = offline;
    Ok(url)
}

#[retry(max = 3, on(_))]
async fn of_several(url: String, page: String) -> Result<(String, String), String> {
    Ok((url, page))
}

fn main() {
    let url = || Url(String::new());
    let _ = by_a_match(Some(url()));
    let _ = by_a_method(url());
    let _ = beside_what_is_compiled_sometimes(url(), true);
    let _ = of_several(String::new(), String::new());
}
