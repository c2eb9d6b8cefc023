//! A method takes a parameter that has no copies: no message says `clone(..)` as if it had.

use reattempt::retry;

struct Request(String);

impl Request {
    fn send(self) -> Result<String, String> {
        Ok(self.0)
    }

    #[retry(max = 2, on(_))]
    fn of_self(self) -> Result<String, String> {
        self.send()
    }

    #[retry(max = 2, on(_))]
    async fn of_self_later(self) -> Result<String, String> {
        self.send()
    }
}

#[retry(max = 2, on(_))]
fn by_a_method(request: Request) -> Result<String, String> {
    request.send()
}

#[retry(max = 2, on(_))]
fn behind_a_failure(request: Request, page: &str) -> Result<String, String> {
    ready(page)?;
    request.send()
}

/// A part of it leaves before that.
#[retry(max = 2, on(_))]
fn in_parts(request: Pair, page: &str) -> Result<(String, String), String> {
    let first = request.first.send();
    ready(page)?;
    Ok((first?, request.second.0))
}

/// What stands before may be all.
#[retry(max = 2, on(_))]
fn behind_an_answer(request: Request, page: &str) -> Result<String, String> {
    if page.is_empty() {
        return Ok(String::new());
    }
    ready(page)?;
    Ok(request.0)
}

struct Pair {
    first: Request,
    second: Request,
}

fn ready(_: &str) -> Result<(), String> {
    Ok(())
}

fn main() {
    let new = || Request(String::new());
    let _ = new().of_self();
    let _ = new().of_self_later();
    let _ = by_a_method(new());
    let _ = behind_a_failure(new(), "");
    let (first, second) = (new(), new());
    let _ = in_parts(Pair { first, second }, "");
    let _ = behind_an_answer(new(), "");
}
