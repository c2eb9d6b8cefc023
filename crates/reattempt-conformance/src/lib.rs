//! Checks whether a store of durable tasks keeps the contract of [`Store`], sentence by sentence.

mod bench;
mod children;
mod claims;
mod commands;
mod feed;
mod forks;
mod generations;
mod lane_limits;
mod lanes;
mod leases;
mod limits;
mod queues;
mod reads;
mod retention;
mod schedules;
mod searches;
mod signals;
mod submits;
mod sweeps;
mod workers;

use std::fmt;
use std::sync::Arc;

use bench::Bench;
use reattempt_supervisor::store::Store;

/// Checks a store.
///
/// It calls `make` for each sentence, to get two connections to one new, empty store, as two
/// processes would have them. For a store in the memory of one process they may be the same. It
/// waits for a few milliseconds at a time, on the clock of the store.
///
/// # Errors
///
/// Fails with the first sentence that is not true.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use reattempt_supervisor::{Memory, store::Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), reattempt_conformance::Broken> {
/// reattempt_conformance::check(async || {
///     let store: Arc<dyn Store> = Arc::new(Memory::new());
///     [Arc::clone(&store), store]
/// })
/// .await
/// # }
/// ```
pub async fn check(make: impl AsyncFn() -> [Arc<dyn Store>; 2]) -> Result<(), Broken> {
    let files = [
        submits::SENTENCES,
        claims::SENTENCES,
        leases::SENTENCES,
        signals::SENTENCES,
        children::SENTENCES,
        generations::SENTENCES,
        forks::SENTENCES,
        lanes::SENTENCES,
        lane_limits::SENTENCES,
        commands::SENTENCES,
        workers::SENTENCES,
        sweeps::SENTENCES,
        reads::SENTENCES,
        retention::SENTENCES,
        queues::SENTENCES,
        limits::SENTENCES,
        schedules::SENTENCES,
        searches::SENTENCES,
        feed::SENTENCES,
    ];
    for (sentence, check) in files.into_iter().flatten() {
        let bench = Bench::new(make().await);
        check(&bench)
            .await
            .map_err(|why| Broken { sentence, why })?;
    }
    Ok(())
}

/// A sentence of the contract that a store breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    sentence: &'static str,
    why: String,
}

impl Broken {
    /// Returns the sentence.
    pub const fn sentence(&self) -> &'static str {
        self.sentence
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store breaks \"{}\": {}", self.sentence, self.why)
    }
}

impl std::error::Error for Broken {}
