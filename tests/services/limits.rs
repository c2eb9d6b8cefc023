//! Limits on the results of libraries, as they are: each error can say that its call was given up.

use std::time::Duration;

use reattempt::{Classify, GiveUpReason, Policy, Verdict, retry};
use tokio::time::Instant;

macro_rules! hang {
    ($($name:ident -> $answer:ty;)*) => { $(
        #[retry(max = 3, base = "1ms", timeout = "1s")]
        async fn $name() -> $answer {
            std::future::pending().await
        }
    )* };
}

hang! {
    files -> std::io::Result<u8>;
    database -> sqlx::Result<u8>;
    service -> Result<u8, tonic::Status>;
    cache -> redis::RedisResult<u8>;
}

#[retry(max = 3, base = "1ms", timeout = "1s", on(_))]
async fn anything() -> anyhow::Result<u8> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn attempts_are_cut_off() {
    async fn ends<E>(call: impl Future<Output = Result<u8, E>>) -> E {
        let start = Instant::now();
        let error = call.await.expect_err("it hangs");
        assert!(
            start.elapsed() < Duration::from_secs(4),
            "{:?}",
            start.elapsed()
        );
        assert!(start.elapsed() >= Duration::from_secs(3), "three attempts");
        error
    }
    assert_eq!(ends(files()).await.classify(), Verdict::Transient);
    assert_eq!(ends(database()).await.classify(), Verdict::Transient);
    assert_eq!(ends(service()).await.classify(), Verdict::Transient);
    assert_eq!(ends(cache()).await.classify(), Verdict::Transient);
    assert!(ends(anything()).await.is::<reattempt::GaveUp>());

    let policy = Policy::new()
        .max(3)
        .base(Duration::from_millis(1))
        .timeout(Duration::from_secs(1));
    let error: std::io::Error = ends(policy.run_async(std::future::pending)).await;
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    let end = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<reattempt::GaveUp>());
    assert_eq!(
        end.map(|end| (end.reason(), end.attempts())),
        Some((GiveUpReason::Attempts, 3))
    );
}
