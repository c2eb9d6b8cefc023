//! Bytes of futures: what an async function keeps while it waits.

use std::mem::size_of_val;
use std::time::Duration;

use reattempt::{GaveUp, RetryError, retry};
use tokio::time::{sleep, timeout};

use crate::cases::{Yield, exponential};
use crate::table::{Bound, Numbers};

pub(crate) struct Sizes {
    pub(crate) title: &'static str,
    pub(crate) numbers: Numbers,
    pub(crate) bound: Bound,
}

#[derive(Debug, PartialEq)]
enum Broken {
    Once,
    Late,
}

impl From<GaveUp> for Broken {
    fn from(_: GaveUp) -> Self {
        Self::Late
    }
}

type Answer = Result<u64, Broken>;

fn is_transient(error: &Broken) -> bool {
    *error == Broken::Once
}

/// One body in a function without, with a loop, and with `#[retry]`; and the two
/// with a deadline over the whole call.
macro_rules! sizes {
    ($title:literal, ($($name:ident: $ty:ty = $value:expr),*), $bound:expr, $until:expr, $body:block) => {{
        async fn bare($($name: $ty),*) -> Answer $body

        async fn hand($($name: $ty),*) -> Answer {
            let mut retries = 0;
            loop {
                let outcome: Answer = async $body.await;
                match outcome {
                    Err(error) if retries + 1 < 5 && is_transient(&error) => {}
                    outcome => return outcome,
                }
                sleep(exponential(retries)).await;
                retries += 1;
            }
        }

        #[retry(max = 5, on = is_transient, budget = "none")]
        async fn ours($($name: $ty),*) -> Answer $body

        async fn hand_until($($name: $ty),*) -> Answer {
            let limited = timeout(Duration::from_secs(30), async {
                let mut retries = 0;
                loop {
                    let outcome: Answer = async $body.await;
                    match outcome {
                        Err(error) if retries + 1 < 5 && is_transient(&error) => {}
                        outcome => return outcome,
                    }
                    sleep(exponential(retries)).await;
                    retries += 1;
                }
            });
            limited.await.unwrap_or(Err(Broken::Late))
        }

        #[retry(max = 5, deadline = "30s", on = is_transient, budget = "none")]
        async fn ours_until($($name: $ty),*) -> Answer $body

        let bare = size_of_val(&bare($($value),*));
        [
            row(
                $title,
                [bare, size_of_val(&hand($($value),*)), size_of_val(&ours($($value),*))],
                $bound,
            ),
            row(
                concat!($title, ", deadline"),
                [bare, size_of_val(&hand_until($($value),*)), size_of_val(&ours_until($($value),*))],
                $until,
            ),
        ]
    }};
}

pub(crate) fn all() -> impl Iterator<Item = Sizes> {
    // A small one has room for the sleep; what a large one keeps has room for it anyway.
    let (small, promised) = (Bound::OverHand(0.0), Bound::OverBare(24.0));
    let (small_until, until) = (Bound::OverHand(0.0), Bound::OverBare(40.0));
    let rows = [
        sizes!("no parameter", (), Bound::Nothing, small_until, {
            Yield::once().await;
            Ok(1)
        }),
        sizes!("one reference", (a: &u64 = &1), small, small_until, {
            Yield::once().await;
            if *a == 7 { Err(Broken::Once) } else { Ok(*a) }
        }),
        sizes!("one reference, 256 bytes kept", (a: &u64 = &1), promised, until, {
            let kept = [a; 32];
            Yield::once().await;
            if *a == 7 { Err(Broken::Once) } else { Ok(kept.iter().copied().sum()) }
        }),
        sizes!("two references", (a: &u64 = &1, b: &str = "b"), Bound::Nothing, Bound::Nothing, {
            Yield::once().await;
            if *a == 7 { Err(Broken::Once) } else { Ok(*a + b.len() as u64) }
        }),
        sizes!("one String", (a: String = String::new()), Bound::Nothing, small_until, {
            Yield::once().await;
            if a.is_empty() { Err(Broken::Once) } else { Ok(a.len() as u64) }
        }),
    ];
    rows.into_iter().flatten().chain([last_error()])
}

/// A call that keeps its last error, of 128 bytes, for the case that the attempts after it run out of time.
fn last_error() -> Sizes {
    type Large = [u64; 16];
    async fn bare(a: &u64) -> Result<u64, Large> {
        Yield::once().await;
        if *a == 7 { Err([0; 16]) } else { Ok(*a) }
    }
    async fn hand(a: &u64) -> Result<u64, (Option<Large>, bool)> {
        let mut last = None;
        let limited = timeout(Duration::from_secs(30), async {
            let mut retries = 0;
            loop {
                match bare(a).await {
                    Err(error) if retries + 1 < 5 => last = Some(error),
                    outcome => return outcome.map_err(|error| (Some(error), false)),
                }
                sleep(exponential(retries)).await;
                retries += 1;
            }
        });
        limited.await.unwrap_or(Err((last, true)))
    }
    #[retry(max = 5, deadline = "30s", on(_), budget = "none")]
    async fn ours(a: &u64) -> Result<u64, RetryError<Large>> {
        bare(a).await
    }
    let sizes = [
        size_of_val(&bare(&1)),
        size_of_val(&hand(&1)),
        size_of_val(&ours(&1)),
    ];
    row(
        "one reference, deadline, an error of 128 bytes kept",
        sizes,
        Bound::Nothing,
    )
}

#[expect(clippy::cast_precision_loss, reason = "no future is that large")]
fn row(title: &'static str, sizes: [usize; 3], bound: Bound) -> Sizes {
    let [bare, hand, ours] = sizes.map(|size| size as f64);
    let numbers = Numbers {
        bare: Some(bare),
        hand,
        ours,
    };
    Sizes {
        title,
        numbers,
        bound,
    }
}
