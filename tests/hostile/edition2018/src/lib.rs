//! The edition of the user's crate is not the edition of the macros.

#[path = "../../all_lints/src/asynchronous.rs"]
pub mod asynchronous;
#[path = "../../all_lints/src/blocks.rs"]
pub mod blocks;
#[path = "../../all_lints/src/limits.rs"]
pub mod limits;
#[path = "../../all_lints/src/methods.rs"]
pub mod methods;
#[path = "../../all_lints/src/once.rs"]
pub mod once;
#[path = "../../all_lints/src/strategy.rs"]
pub mod strategy;
#[path = "../../all_lints/src/support.rs"]
pub mod support;
#[path = "../../all_lints/src/sync.rs"]
pub mod sync;

/// Words that later became keywords.
pub mod words {
    use reattempt::retry;

    /// As a name, a parameter and a clone.
    ///
    /// # Errors
    ///
    /// For the lints.
    #[retry(max = 2, on(_), clone(gen), context = attempt)]
    pub fn gen(gen: String, dyn_: u32) -> Result<String, crate::support::Fault> {
        let r#try = attempt.number();
        if r#try > dyn_ {
            Ok(gen)
        } else {
            Err(crate::support::Fault::Busy)
        }
    }
}
