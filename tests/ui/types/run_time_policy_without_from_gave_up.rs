use reattempt::{Policy, retry, retry_block};

struct Client {
    policy: Policy,
}

impl Client {
    #[retry(policy = self.policy, on(_))]
    async fn fetch(&self) -> Result<(), String> {
        std::future::pending().await
    }
}

#[retry(policy = "storage", on(_))]
async fn store() -> Result<(), String> {
    std::future::pending().await
}

async fn block(policy: Policy) -> Result<(), String> {
    retry_block!(policy = policy, on(_), async || -> Result<(), String> {
        std::future::pending().await
    })
    .await
}

fn main() {
    let policy = Policy::new();
    let _ = Client { policy }.fetch();
    let _ = (store(), block(policy));
}
