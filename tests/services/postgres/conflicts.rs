//! Transactions that get in each other's way, and one that loses its connection.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use reattempt::{Classify as _, RetryError, Verdict, retry};
use sqlx::PgPool;
use tokio::task::JoinSet;

use super::{Base, judged, state};

const TASKS: i32 = 8;
const TRANSFERS: i32 = 200;

const ACCOUNTS: &str = "
    CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL);
    INSERT INTO account SELECT id, 1000 FROM generate_series(0, 3) AS id;
";

/// Failures, by the state that the database answered with.
#[derive(Debug, Clone, Default)]
struct Failures(Arc<Mutex<BTreeMap<String, u32>>>);

impl Failures {
    /// Also that each was a failure of which nothing was executed.
    fn count(&self, error: Option<&sqlx::Error>) {
        let error = error.expect("no attempt timed out");
        assert_eq!(error.classify(), Verdict::Refused, "{error}");
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(state(error).unwrap()).or_default() += 1;
    }

    fn of(&self, state: &str) -> u32 {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.get(state).copied().unwrap_or_default()
    }
}

/// Reads two of four accounts, and then writes both, at the strictest level.
async fn transfer(pool: &PgPool, from: i32, to: i32) -> sqlx::Result<()> {
    let mut tx = pool
        .begin_with("BEGIN ISOLATION LEVEL SERIALIZABLE")
        .await?;
    let mut balances = [0_i64; 2];
    for (id, balance) in [from, to].into_iter().zip(&mut balances) {
        *balance = sqlx::query_scalar("SELECT balance FROM account WHERE id = $1")
            .bind(id)
            .fetch_one(&mut *tx)
            .await?;
    }
    for (id, balance) in [(from, balances[0] - 1), (to, balances[1] + 1)] {
        sqlx::query("UPDATE account SET balance = $2 WHERE id = $1")
            .bind(id)
            .bind(balance)
            .execute(&mut *tx)
            .await?;
    }
    tx.commit().await
}

// Of transactions in conflict one commits, so that all of them get there; nobody knows after how
// many attempts, so time is the limit and not a number. What has lost comes back within a few
// milliseconds, drawn from all of the delay: two that come back in step would meet again. The delay
// grows with each loss until so few are left at work that they get through. What may have been
// executed would not be repeated; here nothing is.
#[retry(max = "unlimited", deadline = "2m", base = "2ms", cap = "100ms", jitter = "full",
    idempotent = false, on_retry = |retry| failures.count(retry.error()))]
async fn retried(
    pool: &PgPool,
    from: i32,
    to: i32,
    failures: &Failures,
) -> Result<(), RetryError<sqlx::Error>> {
    transfer(pool, from, to).await
}

/// Eight tasks, 200 transfers each, to and fro between four accounts.
async fn crowd<F>(transfer: impl Fn(i32, i32) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let pairs = (0..TRANSFERS).map(|i| ((task + i) % 4, (task + i + 1 + i % 3) % 4));
        let transfers: Vec<_> = pairs.map(|(from, to)| transfer(from, to)).collect();
        tasks.spawn(async {
            for transfer in transfers {
                transfer.await;
            }
        });
    }
    tasks.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_transfer_commits() {
    let Some(base) = Base::start("conflicts", ACCOUNTS).await else {
        return;
    };
    let (failures, done) = (Failures::default(), Arc::new(AtomicU32::new(0)));
    crowd(|from, to| {
        let (pool, failures, done) = (base.pool.clone(), failures.clone(), Arc::clone(&done));
        async move {
            retried(&pool, from, to, &failures).await.unwrap();
            done.fetch_add(1, Ordering::Relaxed);
        }
    })
    .await;
    println!("1600 transfers, with retries after {failures:?}");
    assert!(failures.of("40001") > 0);
    assert_eq!(done.load(Ordering::Relaxed), 1600);
    let sum = base.number("SELECT sum(balance)::bigint FROM account");
    assert_eq!(sum.await, 4000);
}

/// The same, so that it is known what the retries are for.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_retry_transfers_fail() {
    let Some(base) = Base::start("without_a_retry", ACCOUNTS).await else {
        return;
    };
    let failures = Failures::default();
    crowd(|from, to| {
        let (pool, failures) = (base.pool.clone(), failures.clone());
        async move {
            if let Err(error) = transfer(&pool, from, to).await {
                failures.count(Some(&error));
            }
        }
    })
    .await;
    println!("of 1600 transfers failed {failures:?}");
    assert!(failures.of("40001") > 0);
    let sum = base.number("SELECT sum(balance)::bigint FROM account");
    assert_eq!(sum.await, 4000);
}

/// The backend is killed before the commit, so nothing was executed.
#[retry(base = "2ms", context = attempt, on_retry = |retry| failed.push(judged(retry.error()).1))]
async fn book(base: &Base, backends: &mut Vec<i32>, failed: &mut Vec<Verdict>) -> sqlx::Result<()> {
    let mut tx = base.pool.begin().await?;
    let backend =
        sqlx::query_scalar("INSERT INTO booking DEFAULT VALUES RETURNING pg_backend_pid()");
    let backend = backend.fetch_one(&mut *tx).await?;
    backends.push(backend);
    if !attempt.is_retry() {
        base.kill(backend).await;
    }
    let account = sqlx::query("UPDATE account SET balance = balance - 1 WHERE id = 0");
    account.execute(&mut *tx).await?;
    tx.commit().await
}

#[tokio::test]
async fn a_retry_takes_another_connection() {
    let tables = format!("{ACCOUNTS} CREATE TABLE booking (id serial);");
    let Some(base) = Base::start("killed", &tables).await else {
        return;
    };
    let (mut backends, mut failed) = (Vec::new(), Vec::new());
    book(&base, &mut backends, &mut failed).await.unwrap();
    assert_eq!(failed, [Verdict::Transient]);
    assert_eq!(backends.len(), 2);
    assert_ne!(backends[0], backends[1]);
    assert_eq!(base.number("SELECT count(*) FROM booking").await, 1);
    let balance = base.number("SELECT balance FROM account WHERE id = 0");
    assert_eq!(balance.await, 999);
}
