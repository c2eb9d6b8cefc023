//! Which method is meant.

mod disk;
pub mod memory;

pub use disk::Disk;

pub trait Store {
    async fn load(&self, key: &str) -> Result<Vec<u8>, String>;
}

/// In front of any other.
pub struct Cached<S> {
    inner: S,
}

impl<S: Store> Cached<S> {
    pub const fn new(inner: S) -> Self {
        Self { inner }
    }

    /// Either of them.
    //~ cached
    #[reattempt::retry(max = 2, base = "1ms", jitter = "none", on(_))]
    pub async fn get(&self, key: &str) -> Result<Vec<u8>, String> {
        self.inner.load(key).await
    }
}

//~ warm
#[reattempt::retry(max = 2, base = "1ms", jitter = "none", on(_))]
pub async fn warm() -> Result<(), String> {
    let cached = Cached::new(Disk);
    let task = async { cached.get("a").await.map(drop) };
    task.await
}
