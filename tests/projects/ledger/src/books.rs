use again::{Policy, retry as attempt};
use std::time::Duration;

#[cfg(staging)]
const TRIES: u32 = 2;
#[cfg(not(staging))]
const TRIES: u32 = 5;

const WAIT: Duration = Duration::from_secs(2);

const BOOKS: Policy = Policy::new().max(3).base(WAIT).jitter(again::Jitter::None);

/// Says `#[retry(max = 9)]` in words: "#[retry]", `retry_block!()`.
//~ read
#[attempt(policy = BOOKS, on(_), crate = ::again)]
pub fn read() -> Result<u8, String> {
    // #[attempt(max = 10)]
    let text = "#[retry(max = 11)] retry_block!(max = 12, {})";
    /* #[attempt(max = 13)] fn no() {} */
    text.parse().map_err(|_| text.to_owned())
}

//~ write
#[attempt(max = TRIES, base = "100ms", jitter = "none", on(_), crate = ::again)]
pub fn write() -> Result<u8, String> {
    read()
}

#[cfg(feature = "remote")]
//~ sent
#[attempt(max = 4, base = WAIT, jitter = "none", on(_), crate = ::again)]
pub fn sent() -> Result<u8, String> {
    write()
}

//~ fetched
#[cfg_attr(feature = "remote", attempt(max = 2, base = "10s", jitter = "none", on(_), crate = ::again))]
pub fn fetched() -> Result<u8, String> {
    read()
}

//~ deep
#[cfg_attr(unix, cfg_attr(not(staging), attempt(max = 2, base = "3s", jitter = "none", on(_), crate = ::again)))]
pub fn deep() -> Result<u8, String> {
    read()
}

pub struct Book;

#[cfg(feature = "remote")]
impl Book {
    //~ shared
    #[::again::retry(max = 2, base = "4s", jitter = "none", on(_), crate = ::again)]
    pub fn shared(&self) -> Result<u8, String> {
        #[cfg(unix)]
        {
            return self.local();
        }
        #[cfg(not(unix))]
        Err(String::new())
    }

    //~ local
    #[::again::retry(on(_), crate = ::again)]
    #[cfg(unix)]
    fn local(&self) -> Result<u8, String> {
        read()
    }
}
