//! `::name` means the root of this crate here.

extern crate reattempt;

/// A module, where `core::` and `std::` are not at hand.
pub mod inner {
    use reattempt::{GaveUp, retry, retry_block};

    /// What can go wrong.
    #[derive(Debug)]
    pub struct Fault;

    impl From<GaveUp> for Fault {
        fn from(_: GaveUp) -> Self {
            Fault
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
        fallback = |_| Ok(7),
        before_retry = |_| (),
        on_retry = |_| (),
        context = attempt,
        clone(text)
    )]
    pub fn function(text: String) -> Result<u32, Fault> {
        let bytes = text.into_bytes();
        if bytes.is_empty() {
            return Err(Fault);
        }
        Ok(attempt.number())
    }

    /// A block.
    pub fn block() -> Result<u32, Fault> {
        retry_block!(max = 2, on(_), || -> Result<u32, Fault> { Err(Fault) })
    }
}
