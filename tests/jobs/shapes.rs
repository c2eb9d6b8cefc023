//! Sync code, traits, a wrapper around a client, blocks, a helper for any call.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use reattempt::{Classify, Policy, retry, retry_block, testing};

#[retry(max = 4)]
fn read(path: &Path, calls: &mut u32) -> io::Result<String> {
    *calls += 1;
    if *calls < 3 {
        return Err(ErrorKind::Interrupted.into());
    }
    std::fs::read_to_string(path)
}

#[test]
fn file() {
    let _time = testing::virtual_time();
    let mut calls = 0;
    let text = read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("Cargo.toml")
            .as_path(),
        &mut calls,
    )
    .unwrap();
    assert!(text.contains("[package]"));
    assert_eq!(calls, 3);
    assert!(read(Path::new("/nowhere"), &mut calls).is_err());
    assert_eq!(calls, 4);
}

#[tokio::test]
async fn file_beside_async_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let job = tokio::task::spawn_blocking(move || {
        let _time = testing::virtual_time(); // of this thread
        read(&path, &mut 0)
    });
    assert!(job.await.unwrap().unwrap().contains("[package]"));
}

#[async_trait]
trait Store: Sync {
    async fn get(&self, key: &str) -> io::Result<u32>;

    async fn put(&self, key: &str, value: u32) -> io::Result<()>;
}

/// The first calls fail.
#[derive(Default)]
struct Flaky(AtomicU32);

impl Flaky {
    fn call<T>(&self, value: T) -> io::Result<T> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => Err(ErrorKind::ConnectionReset.into()),
            _ => Ok(value),
        }
    }
}

struct Methods(Flaky);

#[async_trait]
impl Store for Methods {
    #[retry]
    async fn get(&self, _: &str) -> io::Result<u32> {
        self.0.call(7)
    }

    #[retry(idempotent = false)]
    async fn put(&self, _: &str, _: u32) -> io::Result<()> {
        self.0.call(())
    }
}

struct Below(Flaky);

#[async_trait]
#[retry(max = 4)]
impl Store for Below {
    async fn get(&self, _: &str) -> io::Result<u32> {
        self.0.call(7)
    }

    #[retry(never)]
    async fn put(&self, _: &str, _: u32) -> io::Result<()> {
        self.0.call(())
    }
}

struct Above(Flaky);

#[retry(max = 4)]
#[async_trait]
impl Store for Above {
    async fn get(&self, _: &str) -> io::Result<u32> {
        self.0.call(7)
    }

    #[retry(idempotent = false)]
    async fn put(&self, _: &str, _: u32) -> io::Result<()> {
        self.0.call(())
    }
}

struct Client(Flaky);

#[retry(max = 4)]
impl Client {
    async fn get(&self) -> io::Result<u32> {
        self.0.call(7)
    }
}

#[tokio::test(start_paused = true)]
async fn methods_and_traits() {
    let stores: [(&dyn Store, &dyn Store); 3] = [
        (&Methods(Flaky::default()), &Methods(Flaky::default())),
        (&Below(Flaky::default()), &Below(Flaky::default())),
        (&Above(Flaky::default()), &Above(Flaky::default())),
    ];
    for (read, written) in stores {
        assert_eq!(read.get("tea").await.unwrap(), 7);
        assert!(written.put("tea", 7).await.is_err()); // a single attempt
        assert!(written.put("tea", 7).await.is_err());
        assert!(written.put("tea", 7).await.is_ok());
    }
    assert_eq!(Client(Flaky::default()).get().await.unwrap(), 7);
}

/// Retries all calls of any store.
struct Retrying<S> {
    store: S,
    policy: Policy,
}

#[async_trait]
#[retry(policy = self.policy)]
impl<S: Store> Store for Retrying<S> {
    async fn get(&self, key: &str) -> io::Result<u32> {
        self.store.get(key).await
    }

    #[retry(policy = self.policy, idempotent = false)]
    async fn put(&self, key: &str, value: u32) -> io::Result<()> {
        self.store.put(key, value).await
    }
}

struct Plain(Flaky);

#[async_trait]
impl Store for Plain {
    async fn get(&self, _: &str) -> io::Result<u32> {
        self.0.call(7)
    }

    async fn put(&self, _: &str, _: u32) -> io::Result<()> {
        self.0.call(())
    }
}

#[tokio::test(start_paused = true)]
async fn wrapper() {
    let policy = Policy::new().max(4);
    let store = Retrying {
        store: Plain(Flaky::default()),
        policy,
    };
    assert_eq!(store.get("tea").await.unwrap(), 7);
    let store = Retrying {
        store: Plain(Flaky::default()),
        policy,
    };
    assert!(store.put("tea", 7).await.is_err());
    assert_eq!(store.store.0.0.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn closure_and_block() {
    let _time = testing::virtual_time();
    let flaky = Flaky::default();
    let seven = retry_block!(max = 4, || -> io::Result<u32> { flaky.call(7) });
    assert_eq!(seven.unwrap(), 7);

    let flaky = Flaky::default();
    let seven = retry_block!(max = 4, async || -> io::Result<u32> { flaky.call(7) }).await;
    assert_eq!(seven.unwrap(), 7);

    let flaky = Flaky::default();
    assert_eq!(Policy::new().max(4).run(|| flaky.call(7)).unwrap(), 7);
    let flaky = Flaky::default();
    assert_eq!(
        Policy::new()
            .max(4)
            .run_async(async || flaky.call(7))
            .await
            .unwrap(),
        7
    );

    // A count that the closure changes.
    let calls = Cell::new(0);
    let answer = Policy::new()
        .run_async(async || {
            calls.set(calls.get() + 1);
            Err::<u32, _>(io::Error::from(ErrorKind::TimedOut))
        })
        .await;
    assert!(answer.is_err());
    assert_eq!(calls.get(), 3);
}

#[retry(max = 4)]
async fn with_retry<T, E, F, Fut>(mut call: F) -> Result<T, E>
where
    E: Classify,
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    call().await
}

#[retry(policy = policy)]
fn with_policy<T, E: Classify>(
    policy: Policy,
    mut call: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    call()
}

#[tokio::test(start_paused = true)]
async fn helper_for_any_call() {
    let _time = testing::virtual_time();
    let flaky = Flaky::default();
    assert_eq!(with_retry(|| async { flaky.call(7) }).await.unwrap(), 7);
    let flaky = Flaky::default();
    assert_eq!(
        with_policy(Policy::new(), || flaky.call("tea")).unwrap(),
        "tea"
    );
}
