//! `::name` means the root of this crate here.

extern crate reattempt;

/// A module, where `core::` and `std::` are not at hand.
pub mod inner {
    use reattempt::{retry, retry_block, Interrupted};

    /// Also a word of later editions.
    #[derive(Debug)]
    pub struct async;

    impl From<Interrupted> for async {
        fn from(_: Interrupted) -> Self {
            async
        }
    }

    /// A function.
    #[retry(
        max = 4,
        base = "1ms",
        cap = "1s",
        jitter = "equal",
        deadline = "30s",
        on(_),
        until = |value| *value > 3,
        fallback = |error| Err(error),
        before_retry = |_| (),
        on_retry = |_| (),
        context = attempt,
        clone(dyn)
    )]
    pub fn function(dyn: String) -> Result<u32, async> {
        let try = dyn.into_bytes();
        if try.is_empty() {
            return Err(async);
        }
        Ok(attempt.number())
    }

    /// A block.
    pub fn block() -> Result<u32, async> {
        retry_block!(max = 2, on(_), || -> Result<u32, async> { Err(async) })
    }
}
