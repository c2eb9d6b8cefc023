//! The compiler knows whether the closure of an attempt runs again: so one error, whatever moves.

use reattempt::retry;

struct Url(String);

impl Url {
    fn into_host(self) -> String {
        self.0
    }

    #[retry(max = 3, on(_))]
    fn host(self) -> Result<String, String> {
        Ok(self.into_host())
    }

    fn write_into(self, page: &mut String) {
        *page += &self.0;
    }

    #[retry(max = 3, on(_))]
    fn page(self) -> Result<String, String> {
        let mut page = String::new();
        self.write_into(&mut page);
        Ok(page)
    }
}

macro_rules! checked {
    ($url:expr) => {
        $url
    };
}

#[retry(max = 3, on(_))]
fn by_a_match(url: Option<Url>) -> Result<String, String> {
    match url {
        Some(url) => Ok(url.0),
        None => Err("no url".into()),
    }
}

#[retry(max = 3, on(_))]
fn by_a_macro(url: Url) -> Result<Url, String> {
    Ok(checked!(url))
}

#[retry(max = 3, on(_))]
fn by_what_is_compiled_sometimes(url: Url) -> Result<(), String> {
    #[cfg(all())]
    drop(url);
    Ok(())
}

#[retry(max = 3, on = |error| error.is_empty())]
fn beside_a_closure(id: Box<u32>, url: Url) -> Result<String, String> {
    let page = format!("{id}");
    Ok(url.into_host() + &page + &Url(page.clone()).into_host())
}

#[retry(max = 3, on(_))]
fn by_one_of_two(url: Url, make: impl FnOnce(&str) -> String) -> Result<String, String> {
    let host = url.into_host();
    Ok(Some(host).map(|host| (make)(&host)).unwrap_or_default())
}

#[retry(max = 3, on(_))]
fn of_several(url: String, page: String) -> Result<String, String> {
    Ok(url + &String::from_utf8_lossy(&page.into_bytes()))
}

fn main() {
    let url = || Url(String::new());
    let _ = url().host();
    let _ = url().page();
    let _ = by_a_match(Some(url()));
    let _ = by_a_macro(url());
    let _ = by_what_is_compiled_sometimes(url());
    let _ = beside_a_closure(Box::new(1), url());
    let _ = by_one_of_two(url(), |_| String::new());
    let _ = of_several(String::new(), String::new());
}
