use reattempt::{Classify, Policy};

const POLICY: Policy = Policy::new().max(3);

async fn with_retry<T, E: Classify, F: Future<Output = Result<T, E>>>(
    operation: impl FnMut() -> F,
) -> Result<T, E> {
    POLICY.run_async(operation).await
}

fn main() {
    let _ = with_retry(async || std::fs::read("page"));
}
