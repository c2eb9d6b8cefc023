//! `extern crate`, a module of the same name, raw names, and what another module imports.

pub extern crate again as library;

use self::names::r#try as first;
use library::retry;

mod names {
    pub use super::library::retry as r#try;
}

//~ raw
#[first(max = 2, base = "5s", jitter = "none", on(_), crate = ::again)]
pub fn r#loop() -> Result<u8, String> {
    r#match()
}

//~ extern
#[retry(max = 2, base = "6s", jitter = "none", on(_), crate = ::again)]
fn r#match() -> Result<u8, String> {
    Ok(1)
}
