//! None of this is ours.

use other::{Fallible, retry};

#[retry(max = 99)]
pub fn theirs() -> Result<u8, String> {
    Err("retry".into())
}

#[other::retry]
pub fn theirs_too() -> Result<u8, String> {
    macro_rules! retry {
        ($e:expr) => {
            $e
        };
    }
    retry!(Ok(1))
}

/// Not an attribute macro, but one of a derive.
#[derive(Fallible)]
#[retry(max = 98)]
pub struct Theirs {
    #[retry(max = 97)]
    pub retry: u8,
}

pub mod retry_block {
    pub fn retry() -> u8 {
        let retry_block = 1;
        retry_block
    }
}

mod own {
    macro_rules! retry_block {
        ($($tokens:tt)*) => {
            0
        };
    }

    pub fn none() -> u8 {
        retry_block!(max = 96, on(_), { Ok::<u8, ()>(1) })
    }
}

pub fn none() -> u8 {
    own::none() + retry_block::retry()
}
