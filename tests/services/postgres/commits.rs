//! A commit whose answer does not come: nobody knows whether it took effect.

use std::sync::atomic::{AtomicU32, Ordering};

use reattempt::{Verified, retry};
use sqlx::postgres::PgPoolOptions;
use sqlx::{Executor as _, PgPool};
use tokio::task::JoinSet;

use super::Base;
use super::proxy::{Proxy, Strike};

const TABLES: &str = "
    CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL);
    INSERT INTO account VALUES (0, 0), (1, 0);
    CREATE TABLE booking (key text PRIMARY KEY, amount bigint NOT NULL);
";

/// A client: what it works with may lose its connection, what it verifies with does not.
struct Bank {
    proxy: Proxy,
    pool: PgPool,
    sure: PgPool,
    attempts: AtomicU32,
    found_done: AtomicU32,
    found_not_done: AtomicU32,
    /// Found done by the key alone, because `verify` had looked too early.
    late: AtomicU32,
}

impl Base {
    /// Bookings, and the balances of the two accounts.
    async fn booked(&self) -> (i64, i64, i64) {
        let sums = sqlx::query_as(
            "SELECT (SELECT count(*) FROM booking),
                (SELECT balance FROM account WHERE id = 0),
                (SELECT balance FROM account WHERE id = 1)",
        );
        sums.fetch_one(&self.pool).await.unwrap()
    }
}

impl Bank {
    async fn open(base: &Base) -> Self {
        let proxy = Proxy::start(base.options.get_port(), base.pool.clone()).await;
        let options = base.options.clone().port(proxy.port);
        Self {
            pool: PgPoolOptions::new()
                .max_connections(1)
                .connect_lazy_with(options),
            proxy,
            sure: base.pool.clone(),
            attempts: AtomicU32::new(0),
            found_done: AtomicU32::new(0),
            found_not_done: AtomicU32::new(0),
            late: AtomicU32::new(0),
        }
    }

    /// The key is in the same transaction as what it stands for. If another attempt has put it
    /// there and is not over yet, the insertion waits for the end of that attempt.
    #[retry(base = "2ms", idempotent = false, context = attempt,
        verify = async |_| self.is_booked(&attempt.idempotency_key().to_string()).await)]
    async fn transfer(&self, amount: i64) -> sqlx::Result<()> {
        count(&self.attempts);
        let mut tx = self.pool.begin().await?;
        let booking = sqlx::query("INSERT INTO booking VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(attempt.idempotency_key().to_string())
            .bind(amount);
        if booking.execute(&mut *tx).await?.rows_affected() == 0 {
            count(&self.late);
            return Ok(());
        }
        for (id, amount) in [(0, -amount), (1, amount)] {
            sqlx::query("UPDATE account SET balance = balance + $2 WHERE id = $1")
                .bind(id)
                .bind(amount)
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await
    }

    /// Attempts, found done, found not done, late.
    fn counted(&self) -> [u32; 4] {
        [
            &self.attempts,
            &self.found_done,
            &self.found_not_done,
            &self.late,
        ]
        .map(|number| number.load(Ordering::Relaxed))
    }

    async fn is_booked(&self, key: &str) -> Verified<()> {
        let booking = sqlx::query("SELECT FROM booking WHERE key = $1").bind(key);
        match booking.fetch_optional(&self.sure).await {
            Ok(Some(_)) => {
                count(&self.found_done);
                Verified::Done(())
            }
            Ok(None) => {
                count(&self.found_not_done);
                Verified::NotDone
            }
            Err(_) => Verified::Unknown,
        }
    }
}

fn count(number: &AtomicU32) {
    number.fetch_add(1, Ordering::Relaxed);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_transfer_is_lost_or_made_twice() {
    const TASKS: usize = 5;
    const TRANSFERS: usize = 200;

    let Some(base) = Base::start("unknown", TABLES).await else {
        return;
    };
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let bank = Bank::open(&base).await;
        tasks.spawn(async move {
            let strikes = [Strike::Before, Strike::After, Strike::During];
            for strike in strikes.into_iter().cycle().take(TRANSFERS) {
                bank.proxy.strike(strike);
                bank.transfer(1).await.unwrap();
            }
            bank.counted()
        });
    }
    let mut sums = [0; 4];
    for numbers in tasks.join_all().await {
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum += number;
        }
    }
    let [attempts, done, not_done, late] = sums;
    println!(
        "1000 commits without an answer: {done} found done, {not_done} not done ({late} were late)"
    );
    assert_eq!((done + not_done, attempts), (1000, 1000 + not_done));
    // Of every task's 200: 67 before, 67 after.
    assert!(done >= 335 && not_done >= 335);
    assert_eq!(base.booked().await, (1000, -1000, 1000));
}

/// The old backend still commits while `verify` looks: the key makes the retry wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_comes_late_is_found_by_its_key() {
    // The commit waits until the test lets go of its lock.
    let tables = format!(
        "{TABLES}
        CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON booking
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait();"
    );
    let Some(base) = Base::start("late", &tables).await else {
        return;
    };
    let bank = Bank::open(&base).await;
    let mut gate = base.pool.acquire().await.unwrap();
    gate.execute("SELECT pg_advisory_lock(7)").await.unwrap();
    bank.proxy.strike(Strike::Unheard);
    let open = async {
        // The retry waits for the transaction of the first attempt, which waits at the gate.
        base.until(
            "SELECT count(*) = 1 FROM pg_stat_activity
            WHERE application_name = 'late' AND wait_event = 'transactionid'",
        )
        .await;
        assert_eq!(base.booked().await, (0, 0, 0));
        gate.execute("SELECT pg_advisory_unlock(7)").await.unwrap();
    };
    let (transferred, ()) = tokio::join!(bank.transfer(1), open);
    transferred.unwrap();
    assert_eq!(bank.counted(), [2, 0, 1, 1]);
    assert_eq!(base.booked().await, (1, -1, 1));
}
