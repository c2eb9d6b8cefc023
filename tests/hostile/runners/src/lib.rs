//! Runners, a budget, and errors by `chain!` and by hand. Nothing here needs the feature `macros`.

use std::error::Error;
use std::io;

use reattempt::{Budget, Classify, Policy, RetryError, Verdict, chain};

static BUDGET: Budget = Budget::refunding(4);
const POLICY: Policy = Policy::new().max(4).budget(&BUDGET);

/// An error of its own.
#[derive(Debug)]
pub struct Busy;

impl Classify for Busy {
    fn classify(&self) -> Verdict {
        Verdict::Transient
    }
}

/// A sync operation.
pub fn read(mut ask: impl FnMut() -> io::Result<u8>) -> io::Result<u8> {
    POLICY.run(&mut ask)
}

/// An async operation whose error says why it ended.
pub async fn order<F: Future<Output = Result<u8, Busy>>>(
    ask: impl FnMut() -> F,
) -> Result<u8, RetryError<Busy>> {
    POLICY.runner().try_run_async(ask).await
}

/// An error that hides its type.
pub fn load(
    mut ask: impl FnMut() -> Result<u8, Box<dyn Error + Send + Sync>>,
) -> Result<u8, Box<dyn Error + Send + Sync>> {
    POLICY.on(chain![io::Error]).run(&mut ask)
}
