//! Checks that every store keeps the contract.

use std::sync::Arc;

#[cfg(feature = "postgres")]
use crate::{kit, servers};
use reattempt_supervisor::Memory;
use reattempt_supervisor::store::Store;

#[tokio::test]
async fn memory_keeps_the_contract() {
    let make = async || {
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        [Arc::clone(&store), store]
    };
    if let Err(broken) = reattempt_conformance::check(make).await {
        panic!("{broken}");
    }
}

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_keeps_the_contract() {
    use reattempt_supervisor::Sqlite;
    use std::sync::atomic::{AtomicU32, Ordering};

    let folder = std::env::temp_dir().join(format!("retry-stores-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let count = AtomicU32::new(0);
    let make = async || {
        let nth = count.fetch_add(1, Ordering::Relaxed);
        let file = folder.join(format!("{nth}.db"));
        let (one, other) = tokio::join!(Sqlite::open(&file), Sqlite::open(&file));
        [one, other].map(|store| -> Arc<dyn Store> { Arc::new(store.unwrap()) })
    };
    let checked = reattempt_conformance::check(make).await;
    std::fs::remove_dir_all(&folder).unwrap();
    if let Err(broken) = checked {
        panic!("{broken}");
    }
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_keeps_the_contract() {
    use reattempt_supervisor::Postgres;
    use std::sync::atomic::{AtomicU32, Ordering};

    let Some(server) = servers::Server::postgres() else {
        return;
    };
    let url = server.url();
    let client = kit::session(&url).await;
    let count = AtomicU32::new(0);
    let make = async || {
        let schema = format!("s{}", count.fetch_add(1, Ordering::Relaxed));
        let create = format!("CREATE SCHEMA {schema}");
        client.batch_execute(&create).await.unwrap();
        let url = format!("{url}?options=-csearch_path%3D{schema}");
        let (one, other) = tokio::join!(Postgres::connect(&url), Postgres::connect(&url));
        [one, other].map(|store| -> Arc<dyn Store> { Arc::new(store.unwrap()) })
    };
    if let Err(broken) = reattempt_conformance::check(make).await {
        panic!("{broken}");
    }
    for nth in 0..count.load(Ordering::Relaxed) {
        let schema = format!("SET search_path = s{nth}");
        client.batch_execute(&schema).await.unwrap();
        let fit = client.query_one(kit::SMALL_TABLES_FIT, &[]).await.unwrap();
        assert!(fit.get::<_, bool>(0), "in schema s{nth}");
    }
}
