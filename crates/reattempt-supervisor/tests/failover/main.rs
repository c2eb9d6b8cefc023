//! A database that loses its newest history: a standby that was behind takes its place, or a copy of the file. Everything
//! that was submitted is submitted again, as an outbox does. No effect is carried out under two keys, and no key has two
//! effects.
//!
//! `FAILOVER_ROUNDS=5 cargo test --test failover` runs five rounds of each store.
#![cfg(feature = "sqlite")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unused_async,
    clippy::trivially_copy_pass_by_ref,
    reason = "a test that panics has failed; steps are async, also those that wait for nothing, and a compensation gets references"
)]

#[cfg(feature = "postgres")]
#[path = "../../../../examples/servers/mod.rs"]
mod servers;
mod work;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reattempt_supervisor::store::{Encoded, PayloadCodec};
use reattempt_supervisor::{Client, Filter, Retention, Scheduler, SchedulerHandle, Sqlite, State};
use work::{Order, Shop, cycle, is_undone, order, ship};

/// Masks payloads with a byte that is another one each time.
#[derive(Default)]
struct Masked(AtomicU8);

impl PayloadCodec for Masked {
    fn encode(&self, json: &[u8]) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        let mask = self.0.fetch_add(1, Ordering::SeqCst) | 1;
        let masked = json.iter().map(|byte| byte ^ mask);
        Ok(std::iter::once(mask).chain(masked).collect())
    }

    fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        let (mask, bytes) = bytes.split_first().ok_or("nothing")?;
        Ok(bytes.iter().map(|byte| byte ^ mask).collect())
    }
}

/// A store that can lose its newest history.
enum Place {
    File {
        folder: PathBuf,
        /// The file in use.
        file: PathBuf,
    },
    #[cfg(feature = "postgres")]
    Server {
        primary: servers::Server,
        standby: servers::Server,
    },
}

impl Place {
    fn file() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let nth = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("retry-failover-{}-{nth}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("tasks.db");
        Self::File { folder, file }
    }

    #[cfg(feature = "postgres")]
    async fn server() -> Option<Self> {
        let primary = servers::Server::postgres()?;
        // The tables are there before the standby.
        reattempt_supervisor::Postgres::connect(&primary.url())
            .await
            .unwrap();
        let standby = primary.standby();
        Some(Self::Server { primary, standby })
    }

    async fn client(&self) -> Client {
        match self {
            Self::File { file, .. } => {
                let store = Sqlite::open(file.clone()).await.unwrap();
                Client::new(Encoded::new(store, Masked::default()))
            }
            #[cfg(feature = "postgres")]
            Self::Server { primary, standby } => {
                let url = format!(
                    "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres?target_session_attrs=read-write",
                    primary.port, standby.port
                );
                let store = reattempt_supervisor::Postgres::connect(&url).await.unwrap();
                Client::new(Encoded::new(store, Masked::default()))
            }
        }
    }

    /// From here on, what is written will be lost.
    fn begin_to_lose(&mut self) {
        match self {
            Self::File { folder, file } => {
                let copy = folder.join("copy.db");
                let from = rusqlite::Connection::open(file).unwrap();
                from.busy_timeout(Duration::from_secs(60)).unwrap();
                from.execute("VACUUM INTO ?1", [copy.to_str().unwrap()])
                    .unwrap();
            }
            #[cfg(feature = "postgres")]
            Self::Server { standby, .. } => standby.cut_off(),
        }
    }

    fn fail_over(&mut self) {
        match self {
            Self::File { folder, file } => *file = folder.join("copy.db"),
            #[cfg(feature = "postgres")]
            Self::Server { primary, standby } => {
                primary.crash_postgres();
                standby.promote();
            }
        }
    }

    /// Submits some orders in a transaction of the application.
    async fn submit_in_transaction(&self, client: &Client, orders: &[Order]) {
        match self {
            Self::File { file, .. } => {
                let mut own = rusqlite::Connection::open(file).unwrap();
                own.busy_timeout(Duration::from_secs(60)).unwrap();
                let behavior = rusqlite::TransactionBehavior::Immediate;
                let transaction = own.transaction_with_behavior(behavior).unwrap();
                for one in orders {
                    let submission = order(one.clone()).key(one.key());
                    client.submit_in_sqlite(&transaction, submission).unwrap();
                }
                transaction.commit().unwrap();
            }
            #[cfg(feature = "postgres")]
            Self::Server { primary, standby } => {
                let url = format!(
                    "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres?target_session_attrs=read-write",
                    primary.port, standby.port
                );
                let connecting = tokio_postgres::connect(&url, tokio_postgres::NoTls);
                let (mut own, connection) = connecting.await.unwrap();
                tokio::spawn(connection);
                let mut transaction = own.transaction().await.unwrap();
                for one in orders {
                    let submission = order(one.clone()).key(one.key());
                    client
                        .submit_in(&mut transaction, submission)
                        .await
                        .unwrap();
                }
                transaction.commit().await.unwrap();
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Self::File { folder, .. } = self {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// The outbox of an application: the newest order of each key.
#[derive(Default)]
struct Outbox(BTreeMap<u32, Order>);

/// One round with one store.
struct Round {
    place: Place,
    number: u32,
    shop: Shop,
    client: Client,
    outbox: Outbox,
    rng: StdRng,
}

impl Round {
    async fn new(place: Place, number: u32, shop: &Shop, seed: u64) -> Self {
        Self {
            client: place.client().await,
            place,
            number,
            shop: shop.clone(),
            outbox: Outbox::default(),
            rng: StdRng::seed_from_u64(seed),
        }
    }

    async fn schedulers(&self) -> Vec<SchedulerHandle> {
        let mut all = Vec::new();
        for _ in 0..3 {
            let client = self.place.client().await;
            let scheduler = Scheduler::new(&client)
                .register(order)
                .register(ship)
                .register(cycle)
                .with(self.shop.clone())
                .at_once(8)
                .lease(Duration::from_secs(2))
                .poll(Duration::from_millis(50));
            all.push(scheduler.start().unwrap());
        }
        all
    }

    fn order(&self, key: u32, nth: u32) -> Order {
        let store = self.number;
        Order { store, key, nth }
    }

    /// Submits orders, half of them in transactions of the application.
    async fn submit(&mut self, orders: Vec<Order>) {
        for one in &orders {
            self.outbox.0.insert(one.key, one.clone());
        }
        for some in orders.chunks(4) {
            if self.rng.random() {
                self.place.submit_in_transaction(&self.client, some).await;
                continue;
            }
            for one in some {
                let submission = order(one.clone()).key(one.key());
                self.client.submit(submission).await.unwrap();
            }
        }
    }

    async fn list(&self, state: State) -> Vec<u32> {
        let filter = Filter {
            state: Some(state),
            workflow: Some("order".to_owned()),
            limit: 10_000,
            ..Filter::default()
        };
        let tasks = self.client.list(filter).await.unwrap();
        let number = |key: String| key.strip_prefix("order ")?.parse().ok();
        tasks
            .into_iter()
            .filter_map(|task| number(task.key))
            .collect()
    }

    /// Deletes finished orders, whose keys are free after this time.
    async fn prune(&self, lag: Duration) {
        let retention = Retention {
            lag,
            ..Retention::from(Duration::ZERO)
        };
        self.client.prune(retention, 30).await.unwrap();
    }

    /// Submits second orders for some keys whose first orders are pruned, once the keys are free.
    async fn order_again(&mut self, keys: Vec<u32>) {
        let patience = Instant::now() + Duration::from_secs(60);
        for key in keys {
            let second = self.order(key, 1);
            loop {
                let submission = order(second.clone()).key(second.key());
                let task = self.client.submit(submission).await.unwrap();
                if task.submitted().unwrap().is_new {
                    break;
                }
                assert!(Instant::now() < patience, "{second:?} has no free key");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            self.outbox.0.insert(key, second);
        }
    }

    async fn run(&mut self) {
        let first: Vec<_> = (0..60).map(|key| self.order(key, 0)).collect();
        let late: Vec<_> = (60..120).map(|key| self.order(key, 0)).collect();
        let mut schedulers = self.schedulers().await;
        self.submit(first).await;
        self.shop.reaches(self.shop.effects().max(150)).await;
        self.prune(Duration::from_millis(500)).await;
        let mut pruned = self.list(State::Pruned).await;
        pruned.sort_unstable();
        let lost = pruned.split_off(pruned.len() / 2);
        self.order_again(pruned).await;
        self.place.begin_to_lose();
        let before = self.shop.effects();
        self.order_again(lost).await;
        self.submit(late).await;
        self.prune(Duration::from_secs(3_600)).await;
        // The late orders alone have 300 effects.
        let more = self.rng.random_range(60..250);
        self.shop.reaches(before + more).await;
        println!("lost: up to {} effects", self.shop.effects() - before);
        if let Place::File { .. } = self.place {
            for scheduler in schedulers.drain(..) {
                scheduler.stop(Duration::ZERO).await;
            }
        }
        self.place.fail_over();
        self.shop.grow();
        if schedulers.is_empty() {
            self.client = self.place.client().await;
            schedulers = self.schedulers().await;
        }
        let again = self.outbox.0.values().cloned().collect();
        self.submit(again).await;
        self.wait_for_ends().await;
        for scheduler in schedulers {
            scheduler.stop(Duration::from_secs(5)).await;
        }
        for one in self.outbox.0.values().filter(|one| !is_undone(one)) {
            assert_eq!(self.shop.missing(one), [""; 0], "{one:?}");
        }
    }

    async fn wait_for_ends(&self) {
        let patience = Instant::now() + Duration::from_secs(120);
        loop {
            let mut left = 0;
            for state in [
                State::Pending,
                State::Processing,
                State::Waiting,
                State::Parked,
            ] {
                let filter = Filter {
                    state: Some(state),
                    limit: 10,
                    ..Filter::default()
                };
                left += self.client.list(filter).await.unwrap().len();
            }
            if left == 0 {
                return;
            }
            assert!(Instant::now() < patience, "{left} tasks have not ended");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

async fn rounds(kind: &str) {
    let rounds = std::env::var("FAILOVER_ROUNDS").map_or(1, |rounds| rounds.parse().unwrap());
    for _ in 0..rounds {
        let place = match kind {
            "file" => Place::file(),
            #[cfg(feature = "postgres")]
            _ => match Place::server().await {
                Some(place) => place,
                None => return,
            },
            #[cfg(not(feature = "postgres"))]
            _ => return,
        };
        let seed = rand::random();
        println!("seed {seed}");
        let shop = Shop::new();
        let mut one = Round::new(place, 0, &shop, seed).await;
        // A store with the same keys.
        let mut other = Round::new(Place::file(), 1, &shop, seed + 1).await;
        one.run().await;
        other.run().await;
        let (twice, swallowed) = shop.damage();
        assert_eq!(twice, [""; 0], "effects under two keys");
        assert_eq!(swallowed, [""; 0], "keys with two effects");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_the_file_takes_its_place() {
    rounds("file").await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_that_was_behind_takes_its_place() {
    rounds("server").await;
}
