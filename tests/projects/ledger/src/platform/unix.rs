//~ sync
#[again::retry(max = 2, base = "9s", jitter = "none", on(_), crate = ::again)]
pub fn sync() -> Result<u8, String> {
    crate::books::read()
}
