//! Branches that only one platform has, as `cfg-if` writes them.

macro_rules! cfg_if {
    (if #[cfg($first:meta)] { $($one:item)* } else if #[cfg($second:meta)] { $($two:item)* } else { $($three:item)* }) => {
        $(#[cfg($first)] $one)*
        $(#[cfg(all(not($first), $second))] $two)*
        $(#[cfg(not(any($first, $second)))] $three)*
    };
}

cfg_if! {
    if #[cfg(unix)] {
        //~ on_unix
        #[again::retry(max = 2, base = "1s", jitter = "none", on(_), crate = ::again)]
        pub fn here() -> Result<u8, String> {
            crate::books::write()
        }
    } else if #[cfg(windows)] {
        //~ on_windows
        #[again::retry(max = 3, base = "1s", jitter = "none", on(_), crate = ::again)]
        pub fn here() -> Result<u8, String> {
            Ok(3)
        }
    } else {
        //~ elsewhere
        #[again::retry(max = 4, base = "1s", jitter = "none", on(_), crate = ::again)]
        pub fn here() -> Result<u8, String> {
            Ok(4)
        }
    }
}

/// Tests, but with something in front: neither items nor a function to Rust.
macro_rules! cases {
    ($($(#[$meta:meta])* fn $name:ident($value:ident in $values:expr) $body:block)*) => {};
}

cases! {
    //~ case
    #[again::retry(max = 2)]
    fn all_of_them(value in 0..9) {
        let _ = value;
    }
}
