//! Only the compiler knows that `send` takes its receiver by value.

use reattempt::retry;

#[derive(Clone)]
struct Request(String);

impl Request {
    fn send(self) -> Result<String, String> {
        Ok(self.0)
    }
}

#[retry(max = 3, on(_))]
fn fetch(request: Request) -> Result<String, String> {
    request.send()
}

#[retry(max = 3, on(_))]
async fn fetch_later(request: Request) -> Result<String, String> {
    request.send()
}

fn main() {
    let _ = fetch(Request(String::new()));
    let _ = fetch_later(Request(String::new()));
}
