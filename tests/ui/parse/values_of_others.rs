use reattempt::{retry, retry_block};

macro_rules! functions {
    ($([$($keys:tt)*])*) => { $(
        const _: () = {
            #[retry($($keys)*)]
            fn fetch(id: u32) -> std::io::Result<u32> {
                Ok(id)
            }
        };
    )* };
}

functions! {
    [on = "is_transient"]
    [on_retry = "metrics::count"]
    [on = "|error| true"]
    [fallback = "cached"]
    [fallback = "nothing here"]
    [on(500, 502, 503)]
    [except("busy", "late")]
    [codes = 503]
    [codes = "503, 429"]
    [codes(503, 429)]
    [timer = tokio::time::sleep]
    [timer = std::thread::sleep]
    [timer = |delay| std::thread::sleep(delay)]
    [base = "1,5s"]
    [base = "1,000ms"]
    [detail = "get {id}"]
    [detail = "get {id:?} of {self.host}"]
    [name = "get.{id}"]
    [budget = "SHARED"]
    [breaker = "limits::SHOP"]
}

#[retry({"max": 3, "base": "1s"})]
fn json() -> std::io::Result<u32> {
    Ok(1)
}

fn block() -> std::io::Result<String> {
    retry_block! { max = 3, base = "1s"; std::fs::read_to_string("x") }
}

fn main() {}
