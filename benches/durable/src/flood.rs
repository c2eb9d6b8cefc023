//! Workflows, one after another in so many places at once, for so long.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Before anything is counted: connections, statements, caches.
const WARM_UP: Duration = Duration::from_millis(700);

/// Workflows a second. Those under way at the end are waited for and count, as does the time they take. `run` learns whether it counts.
pub async fn flood<F, R>(in_flight: usize, measured: Duration, run: F) -> f64
where
    F: Fn(bool) -> R + Send + Sync + 'static,
    R: Future<Output = ()> + Send,
{
    let run = Arc::new(run);
    all(in_flight, WARM_UP, false, &run).await;
    let begun = Instant::now();
    let count = all(in_flight, measured, true, &run).await;
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let count = count as f64;
    count / begun.elapsed().as_secs_f64()
}

async fn all<F, R>(in_flight: usize, time: Duration, counts: bool, run: &Arc<F>) -> u64
where
    F: Fn(bool) -> R + Send + Sync + 'static,
    R: Future<Output = ()> + Send,
{
    let begun = Instant::now();
    let count = Arc::new(AtomicU64::new(0));
    let mut places = tokio::task::JoinSet::new();
    for _ in 0..in_flight {
        let (run, count) = (Arc::clone(run), Arc::clone(&count));
        places.spawn(async move {
            while begun.elapsed() < time {
                run(counts).await;
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    while let Some(ended) = places.join_next().await {
        ended.expect("a place ended with a panic");
    }
    count.load(Ordering::Relaxed)
}
