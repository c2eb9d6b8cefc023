use reattempt::retry;

/// An `Option` says what failed as well.
//~ year
#[retry(max = 2, base = "1s", backoff = "fixed", jitter = "none")]
pub fn year(text: &str) -> Option<u32> {
    fn digits(text: &str) -> Option<u32> {
        // In a function in a function.
        //~ digit
        #[retry(max = 4, base = "1s", backoff = "fibonacci", jitter = "none", on(_))]
        fn digit(text: &str) -> Result<u32, std::num::ParseIntError> {
            text.parse()
        }
        digit(text).ok()
    }
    digits(text)
}

pub fn month() -> Result<u8, &'static str> {
    mod names {
        // Its names are its own.
        use reattempt::retry as again;

        //~ month
        #[again(max = 3, base = "1s", factor = 3.0, jitter = "none", on(_))]
        pub fn first() -> Result<u8, &'static str> {
            super::january()
        }
    }
    names::first()
}

fn january() -> Result<u8, &'static str> {
    Ok(1)
}
