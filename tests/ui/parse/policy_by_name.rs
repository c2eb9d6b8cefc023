use reattempt::{retry, retry_block};

#[retry(policy = "", on(_))]
fn without_name() -> Result<u32, String> {
    Ok(1)
}

#[retry(policy = " my  storage", on(_))]
fn with_space() -> Result<u32, String> {
    Ok(1)
}

struct Client;

impl Client {
    const MAX: u32 = 3;

    #[retry(policy = "storage", max = Self::MAX, on(_))]
    fn of_instance(&self) -> Result<u32, String> {
        Ok(1)
    }
}

// The keys in the code are a policy by themselves.
#[retry(policy = "storage", base = "2s", cap = "1s", on(_))]
async fn above_cap() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _: Result<u32, String> = retry_block!(policy = "a\tb", on(_), { Ok(1) });
}
