//! Tries whether a store keeps the contract of [`Store`], sentence by sentence.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "runs in tests alone, and what goes wrong there is a result"
)]

mod bench;
mod claims;
mod holds;
mod reads;
mod signals;
mod steers;
mod submits;
mod sweeps;
mod workers;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use crate::store::Store;
use bench::{Bench, Checked};

type Check = for<'a> fn(&'a Bench) -> Pin<Box<dyn Future<Output = Checked> + Send + 'a>>;

/// A sentence of the contract, and what tries it.
type Sentence = (&'static str, Check);

/// Sentences of a file and the functions that try them.
macro_rules! sentences {
    ($($sentence:literal => $check:ident,)*) => {
        pub(super) const SENTENCES: &[super::Sentence] = &[$(($sentence, |bench| Box::pin($check(bench)))),*];
    };
}
use sentences;

/// Tries a store.
///
/// `make` is called for each sentence and answers with two ways to one new, empty store, as two processes would have; for a store in the
/// memory of one process they may be the same. Waits are for a few milliseconds on the clock of the store.
///
/// # Errors
///
/// The first sentence that does not hold.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use reattempt_supervisor::{Memory, conformance, store::Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), conformance::Broken> {
/// conformance::check(async || {
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
        holds::SENTENCES,
        signals::SENTENCES,
        steers::SENTENCES,
        workers::SENTENCES,
        sweeps::SENTENCES,
        reads::SENTENCES,
    ];
    for (sentence, check) in files.into_iter().flatten() {
        let bench = Bench::new(make().await);
        check(&bench)
            .await
            .map_err(|why| Broken { sentence, why })?;
    }
    Ok(())
}

/// A sentence of the contract that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    sentence: &'static str,
    why: String,
}

impl Broken {
    /// The sentence.
    pub const fn sentence(&self) -> &'static str {
        self.sentence
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the store does not keep this: \"{}\": {}",
            self.sentence, self.why
        )
    }
}

impl std::error::Error for Broken {}
