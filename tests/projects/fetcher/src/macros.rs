/// Functions that ask one thing each.
macro_rules! asks {
    ($($name:ident: $max:literal),*) => {
        $(
            //~ asks
            #[reattempt::retry(max = $max, base = "10ms", on(_))]
            pub fn $name() -> Result<u8, String> {
                Err(String::from(stringify!($name)))
            }
        )*
    };
}

/// With the same policy wherever it stands.
macro_rules! stubborn {
    ($body:expr) => {
        //~ stubborn
        reattempt::retry_block!(max = 3, base = "5ms", jitter = "none", on(_), { $body })
    };
}
